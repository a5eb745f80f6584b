// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/resource_informer.h"

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <random>
#include <thread>

#include "api/core/v1.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "sdk/testing/shared_object.h"
#include "sdk/testing/test_recorder.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;
using std::chrono::seconds;

ObjectPtr MakeMap(const std::string& name, const std::string& uid, int64_t version,
                  cox::Map<std::string> labels = {}, const std::string& ns = "ns") {
  ConfigMap map;
  map.metadata.name = name;
  map.metadata.namespace_ = ns;
  map.metadata.uid = uid;
  map.metadata.resourceVersion = std::to_string(version);
  map.metadata.labels = std::move(labels);
  map.data["version"] = std::to_string(version);
  return std::make_shared<const Object>(Object::Of(std::move(map)));
}

std::string WordOf(const Object& object) {
  return HeadOf(object).key.name + "@" + std::to_string(HeadOf(object).version);
}

class ResourceInformerTest : public testing::Test {
 protected:
  explicit ResourceInformerTest(CacheScope scope = {},
                                const Resource& resource = Resource::Of<ConfigMap>(),
                                bool metadata = false)
      : informer_(std::make_shared<ResourceInformer>(resource, metadata, std::move(scope), clock_,
                                                     Clock::Duration(), notification_)),
        feed_(informer_->StartFeed("")),
        handle_(informer_->AddHandler(recorder_.handler())) {}

  bool List(const std::vector<ObjectPtr>& objects, int64_t version, bool newest = false) {
    std::vector<Item> items;
    for (const ObjectPtr& object : objects) items.push_back(informer_->Prepare(object));
    return informer_->Replace(feed_, std::move(items), std::to_string(version), newest);
  }
  void Event(EventType type, const ObjectPtr& object) {
    informer_->Apply(feed_, {type, informer_->Prepare(object), VersionOf(object), false});
  }
  void Added(const ObjectPtr& object) { Event(EventType::kAdded, object); }
  void Modified(const ObjectPtr& object) { Event(EventType::kModified, object); }
  void Deleted(const ObjectPtr& object) { Event(EventType::kDeleted, object); }
  void Bookmark(int64_t version) {
    informer_->Apply(feed_, {EventType::kBookmark, {}, std::to_string(version), false});
  }
  static std::string VersionOf(const ObjectPtr& object) {
    return std::to_string(HeadOf(*object).version);
  }
  // "a@3 b@7".
  std::string Kept() const {
    std::vector<std::string> words;
    for (const ObjectPtr& object : informer_->List("", {})) words.push_back(WordOf(*object));
    std::sort(words.begin(), words.end());
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
  }

  TestClock clock_;
  const std::shared_ptr<Notification> notification_ = std::make_shared<Notification>();
  Recorder recorder_;
  std::shared_ptr<ResourceInformer> informer_;
  ResourceInformer::FeedId feed_;
  const InformerHandle handle_;
};

TEST_F(ResourceInformerTest, IsSyncedAfterTheInitialListAndReportsItsVersion) {
  EXPECT_FALSE(informer_->HasSynced());
  EXPECT_FALSE(handle_.synced());
  EXPECT_EQ(informer_->resource_version(), "");
  List({MakeMap("a", "u1", 5), MakeMap("b", "u2", 7)}, 10);
  EXPECT_TRUE(informer_->HasSynced());
  EXPECT_TRUE(handle_.synced());
  EXPECT_EQ(informer_->resource_version(), "10");
  EXPECT_TRUE(recorder_.last().initial);
  EXPECT_EQ(Kept(), "a@5 b@7");
  EXPECT_EQ(informer_->size(), 2);
  EXPECT_GT(informer_->bytes(), 2 * sizeof(ConfigMap));
  Bookmark(12);
  EXPECT_EQ(informer_->resource_version(), "12");
}

TEST_F(ResourceInformerTest, HandleWaitsUntilItsHandlerHasAllObjects) {
  std::promise<void> entered, proceed;
  const InformerHandle slow = informer_->AddHandler([&](const Delta&) {
    entered.set_value();
    proceed.get_future().wait();
  });
  std::jthread feed([&] { List({MakeMap("a", "u1", 5)}, 10); });
  entered.get_future().wait();
  EXPECT_TRUE(informer_->HasSynced());
  EXPECT_FALSE(slow.synced());
  Context ctx(clock_);
  Context limited = ctx.WithTimeout(seconds(1));
  std::future<Status> stopped =
      std::async(std::launch::async, [&] { return slow.WaitForSync(limited); });
  std::future<Status> synced =
      std::async(std::launch::async, [&] { return slow.WaitForSync(ctx); });
  clock_.Advance(seconds(1));
  EXPECT_EQ(stopped.get().reason(), Context::DeadlineExceeded().reason());
  EXPECT_EQ(synced.wait_for(seconds(0)), std::future_status::timeout);
  proceed.set_value();
  EXPECT_TRUE(synced.get().ok());
  EXPECT_TRUE(slow.synced());
}

TEST_F(ResourceInformerTest, HandleWaitsForTheInitialListAndReportsTheEndOfTheInformer) {
  Context ctx(clock_);
  std::future<Status> synced =
      std::async(std::launch::async, [&] { return handle_.WaitForSync(ctx); });
  EXPECT_EQ(synced.wait_for(seconds(0)), std::future_status::timeout);
  List({}, 10);
  EXPECT_TRUE(synced.get().ok());
  informer_->StartFeed("other");
  const InformerHandle late = informer_->AddHandler([](const Delta&) {});
  std::future<Status> ended = std::async(std::launch::async, [&] { return late.WaitForSync(ctx); });
  informer_->End();
  EXPECT_TRUE(ended.get().Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(InformerHandle().WaitForSync(ctx).Is(Reason::kBadRequest));
}

TEST_F(ResourceInformerTest, OlderVersionsAreIgnored) {
  List({MakeMap("a", "u1", 5)}, 10);
  Modified(MakeMap("a", "u1", 12));
  Modified(MakeMap("a", "u1", 11));  // out of order
  Modified(MakeMap("a", "u1", 12));  // duplicate
  Added(MakeMap("a", "u0", 4));      // an earlier object with the same name
  EXPECT_EQ(Kept(), "a@12");
  Deleted(MakeMap("a", "u1", 11));
  EXPECT_EQ(Kept(), "a@12");
  Deleted(MakeMap("a", "u1", 13));
  EXPECT_EQ(Kept(), "");
  Modified(MakeMap("a", "u1", 12));  // the feed has passed this version
  EXPECT_EQ(Kept(), "");
  EXPECT_EQ(recorder_.seen(), (std::vector<std::string>{"+ns/a", "~ns/a", "-ns/a"}));
  EXPECT_EQ(HeadOf(*recorder_.last().before).version, 13);
  EXPECT_FALSE(recorder_.last().missed);
}

TEST_F(ResourceInformerTest, ReplacedObjectWithTheSameNameIsADeletionAndAnAdd) {
  List({MakeMap("a", "u1", 5)}, 10);
  Added(MakeMap("a", "u2", 12));
  EXPECT_EQ(recorder_.seen(), (std::vector<std::string>{"+ns/a", "-ns/a", "+ns/a"}));
  EXPECT_EQ(informer_->Get({"ns", "a"})->As<ConfigMap>()->metadata.uid, "u2");
  Deleted(MakeMap("a", "u1", 11));  // late event of the first object
  EXPECT_EQ(Kept(), "a@12");
}

TEST_F(ResourceInformerTest, ListDeletesAbsentObjectsUnlessTheyAreNewer) {
  List({MakeMap("a", "u1", 5), MakeMap("b", "u2", 6)}, 10);
  informer_->ObserveWrite(MakeMap("c", "u3", 15), 0, "");
  List({MakeMap("a", "u1", 11)}, 12);
  EXPECT_EQ(Kept(), "a@11 c@15");
  EXPECT_EQ(recorder_.seen().size(), 5);
  List({MakeMap("a", "u1", 11)}, 20);
  EXPECT_EQ(Kept(), "a@11");
  EXPECT_TRUE(recorder_.last().missed);
  EXPECT_EQ(recorder_.broken(), std::vector<std::string>());
}

TEST_F(ResourceInformerTest, OlderListIsRejectedUnlessItWasRequestedAsNewest) {
  List({MakeMap("a", "u1", 5)}, 10);
  EXPECT_FALSE(List({MakeMap("b", "u2", 3)}, 9));
  EXPECT_EQ(Kept(), "a@5");
  EXPECT_TRUE(List({MakeMap("a", "u1", 4), MakeMap("b", "u2", 3)}, 9, true));
  EXPECT_EQ(Kept(), "a@4 b@3");
  EXPECT_EQ(informer_->resource_version(), "9");
}

TEST_F(ResourceInformerTest, RelistSharesUnchangedObjects) {
  List({MakeMap("a", "u1", 5)}, 10);
  const ObjectPtr before = informer_->Get({"ns", "a"});
  List({MakeMap("a", "u1", 5)}, 20);
  EXPECT_EQ(informer_->Get({"ns", "a"}), before);
  EXPECT_EQ(recorder_.seen().size(), 1);
}

TEST_F(ResourceInformerTest, OwnWritesAreVisibleAtOnceAndTheirEventsAreIgnored) {
  List({MakeMap("a", "u1", 5)}, 10);
  informer_->ObserveWrite(MakeMap("a", "u1", 12), 5, "me");
  EXPECT_EQ(Kept(), "a@12");
  EXPECT_EQ(recorder_.last_writer(), "me");
  Modified(MakeMap("a", "u1", 11));  // an earlier write of another client
  Modified(MakeMap("a", "u1", 12));
  EXPECT_EQ(recorder_.seen().size(), 2);
  informer_->ObserveWrite(MakeMap("a", "u1", 14), 13, "me");  // version 13 is not cached
  EXPECT_EQ(recorder_.last_writer(), "");
  informer_->ObserveWrite(MakeMap("a", "u1", 15), SharedInformer::kUnknownBase, "me");
  EXPECT_EQ(recorder_.last_writer(), "");
  informer_->ObserveWrite(MakeMap("b", "u2", 16), 0, "me");
  EXPECT_EQ(recorder_.last_writer(), "me");
  informer_->ObserveWrite(MakeMap("b", "u2", 16), 0, "me");  // duplicate
  EXPECT_EQ(Kept(), "a@15 b@16");
  EXPECT_EQ(recorder_.broken(), std::vector<std::string>());
}

TEST_F(ResourceInformerTest, LateOwnWriteDoesNotRestoreADeletedObject) {
  List({MakeMap("a", "u1", 5)}, 10);
  Modified(MakeMap("a", "u1", 11));
  Deleted(MakeMap("a", "u1", 12));
  informer_->ObserveWrite(MakeMap("a", "u1", 11), 5, "me");
  EXPECT_EQ(Kept(), "");
}

TEST_F(ResourceInformerTest, OwnDeletionIsNotUndoneByLateEvents) {
  List({MakeMap("a", "u1", 5)}, 10);
  informer_->ObserveDelete({"ns", "a"}, "u1");
  EXPECT_EQ(Kept(), "");
  Modified(MakeMap("a", "u1", 11));
  List({MakeMap("a", "u1", 11)}, 12);
  EXPECT_EQ(Kept(), "");
  Deleted(MakeMap("a", "u1", 13));
  Added(MakeMap("a", "u2", 14));
  EXPECT_EQ(Kept(), "a@14");
  informer_->ObserveDelete({"ns", "a"}, "");    // unknown uid
  informer_->ObserveDelete({"ns", "a"}, "u1");  // an earlier object with the same name
  EXPECT_EQ(Kept(), "a@14");
  EXPECT_EQ(recorder_.broken(), std::vector<std::string>());
}

TEST_F(ResourceInformerTest, LateSubscribersReceiveExistingObjectsFirst) {
  List({MakeMap("a", "u1", 5), MakeMap("b", "u2", 6)}, 10);
  Recorder late;
  const InformerHandle handle = informer_->AddHandler(late.handler());
  EXPECT_TRUE(handle.synced());
  EXPECT_EQ(late.seen().size(), 2);
  EXPECT_TRUE(late.last().initial);
  Modified(MakeMap("a", "u1", 11));
  EXPECT_EQ(late.seen().back(), "~ns/a");
  EXPECT_EQ(late.broken(), std::vector<std::string>());
}

TEST_F(ResourceInformerTest, DestroyedHandleReceivesNoMoreCalls) {
  Recorder other;
  {
    const InformerHandle handle = informer_->AddHandler(other.handler());
    List({MakeMap("a", "u1", 5)}, 10);
  }
  Modified(MakeMap("a", "u1", 11));
  EXPECT_EQ(other.seen().size(), 1);
  EXPECT_EQ(recorder_.seen().size(), 2);
}

TEST_F(ResourceInformerTest, HandlesMayOutliveTheInformer) {
  auto informer = std::make_shared<ResourceInformer>(Resource::Of<ConfigMap>(), false, CacheScope(),
                                                     clock_, Clock::Duration(), notification_);
  Recorder recorder;
  InformerHandle handle = informer->AddHandler(recorder.handler());
  informer.reset();
  EXPECT_FALSE(handle.synced());
}

TEST_F(ResourceInformerTest, ResyncsEachHandlerAtItsOwnInterval) {
  List({MakeMap("a", "u1", 5)}, 10);
  Recorder often;
  const InformerHandle handle = informer_->AddHandler(often.handler(), {.resync = seconds(100)});
  EXPECT_EQ(informer_->Resync() <= clock_.In(seconds(110)), true);
  EXPECT_EQ(often.seen().size(), 1);
  clock_.Advance(seconds(110));
  const Clock::SteadyTime next = informer_->Resync();
  EXPECT_GE(next, clock_.In(seconds(100)));
  EXPECT_EQ(often.seen(), (std::vector<std::string>{"+ns/a", "=ns/a"}));
  EXPECT_EQ(recorder_.seen().size(), 1);
}

TEST_F(ResourceInformerTest, IndexesFollowTheObjects) {
  List({MakeMap("a", "u1", 5, {{"app", "x"}}), MakeMap("b", "u2", 6, {{"app", "y"}})}, 10);
  const auto by_app = [](const Object& object) {
    const std::string* app = object.As<ConfigMap>()->metadata.labels.Get("app");
    return app == nullptr ? std::vector<std::string>() : std::vector<std::string>{*app, "all"};
  };
  EXPECT_TRUE(informer_->Find("app", "x").empty());
  informer_->AddIndex("app", by_app);
  EXPECT_EQ(informer_->Find("app", "x").size(), 1);
  EXPECT_EQ(informer_->Find("app", "all").size(), 2);
  Modified(MakeMap("a", "u1", 11, {{"app", "y"}}));
  EXPECT_TRUE(informer_->Find("app", "x").empty());
  EXPECT_EQ(informer_->Find("app", "y").size(), 2);
  Modified(MakeMap("b", "u2", 12));
  Deleted(MakeMap("a", "u1", 13));
  EXPECT_TRUE(informer_->Find("app", "y").empty());
  EXPECT_TRUE(informer_->Find("app", "all").empty());
  informer_->AddIndex("app", [](const Object& object) {
    return std::vector<std::string>{HeadOf(object).key.name};
  });
  EXPECT_EQ(informer_->Find("app", "b").size(), 1);
}

TEST_F(ResourceInformerTest, VisitEndsWhenTheFunctionReturnsFalse) {
  List({MakeMap("a", "u1", 5), MakeMap("b", "u2", 6), MakeMap("c", "u3", 7)}, 10);
  informer_->AddIndex("all", [](const Object&) { return std::vector<std::string>{"yes"}; });
  const auto visited = [this](std::string_view value, int most) {
    int count = 0;
    informer_->Visit("all", value, [&](const Object&) { return ++count < most; });
    return count;
  };
  EXPECT_EQ(visited("yes", 2), 2);
  EXPECT_EQ(visited("yes", 9), 3);
  EXPECT_EQ(visited("no", 9), 0);
}

TEST_F(ResourceInformerTest, ObserverReceivesEachChangeWhenItIsApplied) {
  List({MakeMap("a", "u1", 5)}, 10);
  std::vector<std::string> seen;
  const auto word = [](const Object* object) {
    return object == nullptr ? std::string("none") : WordOf(*object);
  };
  {
    const InformerHandle observer =
        informer_->AddObserver([&](const Object* before, const Object* after) {
          seen.push_back(word(before) + " " + word(after));
        });
    Modified(MakeMap("a", "u1", 11));
    Modified(MakeMap("a", "u1", 11));  // ignored
    informer_->ObserveWrite(MakeMap("b", "u2", 12), 0, "me");
    Added(MakeMap("a", "u3", 14));  // another object with the same name
    informer_->ObserveDelete({"ns", "b"}, "u2");
    List({}, 20);
  }
  List({MakeMap("c", "u4", 25)}, 30);
  EXPECT_EQ(seen, (std::vector<std::string>{"a@5 a@11", "none b@12", "a@11 a@14", "b@12 none",
                                            "a@14 none"}));
}

TEST_F(ResourceInformerTest, ListsByNamespaceAndLabels) {
  List({MakeMap("a", "u1", 5, {{"app", "x"}}), MakeMap("b", "u2", 6, {{"app", "x"}}, "other")}, 10);
  EXPECT_EQ(informer_->List("ns", {}).size(), 1);
  EXPECT_EQ(informer_->List("", *labels::Selector::Parse("app=x")).size(), 2);
  EXPECT_EQ(informer_->List("", *labels::Selector::Parse("app!=x")).size(), 0);
  EXPECT_EQ(informer_->List("nowhere", {}).size(), 0);
  EXPECT_EQ(informer_->Get({"ns", "b"}), nullptr);
}

TEST_F(ResourceInformerTest, FeedsOfNamespacesCanBeAddedAndRemoved) {
  List({}, 10);
  informer_->EndFeed(feed_);
  const auto one = informer_->StartFeed("one");
  const auto two = informer_->StartFeed("two");
  informer_->Replace(one, {informer_->Prepare(MakeMap("a", "u1", 5, {}, "one"))}, "10", true);
  EXPECT_FALSE(informer_->HasSynced());
  informer_->Replace(two, {informer_->Prepare(MakeMap("b", "u2", 6, {}, "two"))}, "20", true);
  EXPECT_TRUE(informer_->HasSynced());
  EXPECT_EQ(informer_->resource_version(), "10");
  // No feed for this namespace.
  informer_->ObserveWrite(MakeMap("c", "u3", 30, {}, "three"), 0, "");
  EXPECT_EQ(Kept(), "a@5 b@6");
  informer_->Replace(two, {}, "21", false);  // does not affect the other feed
  EXPECT_EQ(Kept(), "a@5");
  informer_->EndFeed(one);
  EXPECT_EQ(Kept(), "");
  EXPECT_EQ(recorder_.seen().back(), "-one/a");
  informer_->Replace(one, {informer_->Prepare(MakeMap("a", "u1", 5, {}, "one"))}, "50", false);
  EXPECT_EQ(Kept(), "");
}

TEST_F(ResourceInformerTest, WaitSyncedFailsAfterEnd) {
  Context ctx(clock_);
  informer_->End();
  EXPECT_TRUE(informer_->WaitSynced(ctx).Is(Reason::kServiceUnavailable));
}

class SelectedInformerTest : public ResourceInformerTest {
 protected:
  SelectedInformerTest() : ResourceInformerTest(MakeScope()) {}
  static CacheScope MakeScope() {
    CacheScope scope;
    scope.labels = *labels::Selector::Parse("app=x");
    scope.fields = *fields::Selector::Parse("metadata.name!=hidden");
    return scope;
  }
};

TEST_F(SelectedInformerTest, OwnWritesThatLeaveTheScopeAreRemovedFromTheCache) {
  const cox::Map<std::string> in = {{"app", "x"}};
  List({MakeMap("a", "u1", 5, in)}, 10);
  informer_->ObserveWrite(MakeMap("b", "u2", 11), 0, "");
  informer_->ObserveWrite(MakeMap("hidden", "u3", 11, in), 0, "");
  EXPECT_EQ(Kept(), "a@5");
  informer_->ObserveWrite(MakeMap("a", "u1", 13), 5, "");
  EXPECT_EQ(Kept(), "");
  Modified(MakeMap("a", "u1", 12, in));  // an event from before the own write
  EXPECT_EQ(Kept(), "");
  Deleted(MakeMap("a", "u1", 13));
  Added(MakeMap("a", "u1", 14, in));  // the object matches again
  EXPECT_EQ(Kept(), "a@14");
  EXPECT_EQ(recorder_.broken(), std::vector<std::string>());
}

// --- Random event orders: handlers and readers never receive an older version after a newer one,
// --- and the cache converges to the server's state.

class Model {
 public:
  explicit Model(unsigned seed) : random_(seed) {}

  size_t Draw(size_t below) { return random_() % below; }
  ObjectPtr Write(const std::string& name) {
    const bool there = now.contains(name);
    if (!there) uids[name] = "u" + std::to_string(version + 1);
    ++version;
    ObjectPtr object = MakeMap(name, uids[name], version);
    now[name] = object;
    past.push_back({there ? EventType::kModified : EventType::kAdded, object});
    return object;
  }
  ObjectPtr Delete(const std::string& name) {
    ++version;
    now.erase(name);
    ObjectPtr object = MakeMap(name, uids[name], version);
    past.push_back({EventType::kDeleted, object});
    return object;
  }

  struct Event {
    EventType type;
    ObjectPtr object;
  };
  std::map<std::string, ObjectPtr> At(int64_t last) const {
    std::map<std::string, ObjectPtr> state;
    for (const Event& event : past) {
      if (HeadOf(*event.object).version > last) break;
      if (event.type == EventType::kDeleted) {
        state.erase(HeadOf(*event.object).key.name);
      } else {
        state[HeadOf(*event.object).key.name] = event.object;
      }
    }
    return state;
  }

  int64_t version = 0;
  std::map<std::string, ObjectPtr> now;
  std::map<std::string, std::string> uids;
  std::vector<Event> past;

 private:
  std::mt19937 random_;
};

class RandomHistoryTest : public ResourceInformerTest {
 protected:
  // One random step of the server, the watch or the writers of this process.
  void Step(Model& model, size_t& watched) {
    const std::string name(1, static_cast<char>('a' + model.Draw(4)));
    switch (model.Draw(8)) {
      case 0:  // another client writes
        model.Write(name);
        break;
      case 1:
        if (model.now.contains(name)) model.Delete(name);
        break;
      case 2: {  // this process writes
        const bool there = model.now.contains(name);
        const int64_t base = there ? HeadOf(*model.now[name]).version : 0;
        late_.push_back({model.Write(name), base});
        break;
      }
      case 3:
        if (model.now.contains(name)) {
          const std::string uid = model.uids[name];
          model.Delete(name);
          informer_->ObserveDelete({"ns", name}, uid);
          own_deleted_[uid] = true;
        }
        break;
      case 4:  // a response arrives, possibly out of order
        if (!late_.empty()) {
          const size_t which = model.Draw(late_.size());
          informer_->ObserveWrite(late_[which].object, late_[which].base, "me");
          late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(which));
        }
        break;
      case 5:  // the watch delivers events
        for (size_t i = model.Draw(4); i > 0 && watched < model.past.size(); --i) {
          Event(model.past[watched].type, model.past[watched].object);
          ++watched;
        }
        break;
      case 6:  // a duplicate event
        if (watched > 0) {
          const Model::Event& event = model.past[model.Draw(watched)];
          Event(event.type, event.object);
        }
        break;
      case 7:  // a relist from a server that is not older than the feed
        if (model.Draw(4) == 0) Relist(model, watched);
        break;
    }
  }
  void Relist(Model& model, size_t& watched) {
    const int64_t seen = watched == 0 ? 0 : HeadOf(*model.past[watched - 1].object).version;
    int64_t at =
        seen + static_cast<int64_t>(model.Draw(static_cast<size_t>(model.version - seen + 1)));
    std::vector<ObjectPtr> objects;
    for (const auto& [name, object] : model.At(at)) objects.push_back(object);
    EXPECT_TRUE(List(objects, at));
    while (watched < model.past.size() && HeadOf(*model.past[watched].object).version <= at) {
      ++watched;
    }
  }
  // Checks that readers never receive an older version after a newer one.
  void LookBack() {
    for (char c = 'a'; c < 'e'; ++c) {
      const ObjectPtr object = informer_->Get({"ns", std::string(1, c)});
      if (object == nullptr) continue;
      const ObjectHead head = HeadOf(*object);
      EXPECT_GE(head.version, read_[c]) << c;
      EXPECT_FALSE(own_deleted_[head.uid]) << "deleted by us, and back: " << c;
      read_[c] = head.version;
    }
  }

  struct Late {
    ObjectPtr object;
    int64_t base;
  };
  // Checks that the changes that an observer received lead to the content of the cache.
  void CompareObserved() const {
    std::map<std::string, int64_t> cached;
    for (const ObjectPtr& object : informer_->List("", {})) {
      cached[HeadOf(*object).key.name] = HeadOf(*object).version;
    }
    EXPECT_EQ(observed_, cached);
  }
  void Observe(const Object* before, const Object* after) {
    if (before != nullptr) {
      const auto found = observed_.find(HeadOf(*before).key.name);
      ASSERT_NE(found, observed_.end());
      EXPECT_EQ(found->second, HeadOf(*before).version);
      observed_.erase(found);
    }
    if (after == nullptr) return;
    EXPECT_TRUE(observed_.emplace(HeadOf(*after).key.name, HeadOf(*after).version).second);
  }

  std::vector<Late> late_;
  std::map<std::string, int64_t> observed_;
  std::map<std::string, bool> own_deleted_;
  std::map<char, int64_t> read_;
};

TEST_F(RandomHistoryTest, VersionsNeverGoBackAndTheCacheConverges) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    informer_ = std::make_shared<ResourceInformer>(Resource::Of<ConfigMap>(), false, CacheScope(),
                                                   clock_, Clock::Duration(), notification_);
    feed_ = informer_->StartFeed("");
    Recorder early;
    const InformerHandle one = informer_->AddHandler(early.handler());
    late_.clear();
    observed_.clear();
    const InformerHandle observer = informer_->AddObserver(
        [this](const Object* before, const Object* after) { Observe(before, after); });
    own_deleted_.clear();
    read_.clear();
    Model model(seed);
    size_t watched = 0;
    List({}, 0);
    Recorder late;
    InformerHandle two;
    for (int step = 0; step < 120; ++step) {
      Step(model, watched);
      LookBack();
      CompareObserved();
      if (step == 60) two = informer_->AddHandler(late.handler());
    }
    for (const Late& write : late_) informer_->ObserveWrite(write.object, write.base, "me");
    for (; watched < model.past.size(); ++watched) {
      Event(model.past[watched].type, model.past[watched].object);
      LookBack();
    }
    std::map<std::string, int64_t> want;
    for (const auto& [name, object] : model.now) want["ns/" + name] = HeadOf(*object).version;
    EXPECT_EQ(early.versions(), want) << "seed " << seed;
    EXPECT_EQ(late.versions(), want) << "seed " << seed;
    EXPECT_EQ(informer_->size(), want.size()) << "seed " << seed;
    EXPECT_EQ(early.broken(), std::vector<std::string>()) << "seed " << seed;
    EXPECT_EQ(late.broken(), std::vector<std::string>()) << "seed " << seed;
    if (HasFailure()) return;
  }
}

TEST_F(ResourceInformerTest, HandlersCanBeAddedAndRemovedDuringEvents) {
  List({MakeMap("b", "u2", 10)}, 10);
  RealClock clock;
  Scope scope(Context(clock), "test");
  const auto start = [&](const char* name, std::function<void(int)> work) {
    ASSERT_TRUE(scope
                    .Go(name,
                        [work = std::move(work)](Context&) {
                          for (int i = 0; i < 500; ++i) work(i);
                        })
                    .ok());
  };
  start("watch", [&](int i) { Modified(MakeMap("a", "u1", 11 + 2 * i)); });
  start("writer",
        [&](int i) { informer_->ObserveWrite(MakeMap("b", "u2", 11 + i), 10 + i, "me"); });
  start("reader", [&](int) {
    (void)informer_->List("", {});
    (void)informer_->Find("n", "a");
  });
  start("subscriber", [&](int i) {
    Recorder recorder;
    {
      const InformerHandle handle = informer_->AddHandler(recorder.handler());
      if (i % 10 == 0) {
        informer_->AddIndex("n", [](const Object& object) {
          return std::vector<std::string>{HeadOf(object).key.name};
        });
      }
    }
    EXPECT_EQ(recorder.broken(), std::vector<std::string>());
  });
  scope.Wait();
  scope.Stop();
  EXPECT_EQ(Kept(), "a@1009 b@510");
  EXPECT_EQ(recorder_.broken(), std::vector<std::string>());
}

// An informer that receives the objects of the server's cache.
class SharingInformerTest : public ResourceInformerTest {
 protected:
  using Shared = std::shared_ptr<const SharedObject>;

  static Shared Share(const ObjectPtr& object) {
    return std::make_shared<const SharedObject>(*object);
  }
  bool ListShared(const std::vector<Shared>& objects, int64_t version) {
    std::vector<Item> items;
    for (const Shared& object : objects) items.push_back(informer_->Prepare(object));
    return informer_->Replace(feed_, std::move(items), std::to_string(version), false);
  }
  void EventOf(EventType type, const Shared& object) {
    informer_->Apply(feed_, {type, informer_->Prepare(object), VersionOf(object->object()), false});
  }
  ObjectPtr Cached(const std::string& name) const { return informer_->Get({"ns", name}); }
};

TEST_F(SharingInformerTest, CacheConsistsOfTheObjectsOfTheServer) {
  const Shared a = Share(MakeMap("a", "u1", 5));
  ListShared({a}, 10);
  EXPECT_EQ(Cached("a"), a->object());
  EXPECT_EQ(recorder_.last().after, a->object());
  const Shared changed = Share(MakeMap("a", "u1", 11));
  EventOf(EventType::kModified, changed);
  EXPECT_EQ(Cached("a"), changed->object());
  EXPECT_EQ(recorder_.last().before, a->object());
  const Shared deleted = Share(MakeMap("a", "u1", 12));
  EventOf(EventType::kDeleted, deleted);
  EXPECT_EQ(Cached("a"), nullptr);
  EXPECT_EQ(recorder_.last().before, deleted->object());
}

TEST_F(SharingInformerTest, ForEachDecodesTheObjectsThatItVisits) {
  const Shared all[] = {Share(MakeMap("a", "u1", 5)), Share(MakeMap("b", "u2", 6)),
                        Share(MakeMap("c", "u3", 7))};
  const auto unregistered = std::make_shared<ResourceInformer>(
      Resource::Of<ConfigMap>(), false, CacheScope(), clock_, Clock::Duration(), notification_);
  const auto feed = unregistered->StartFeed("");
  std::vector<Item> items;
  for (const Shared& object : all) items.push_back(unregistered->Prepare(object));
  unregistered->Replace(feed, std::move(items), "10", false);
  int visited = 0;
  unregistered->ForEach("ns", [&](const ObjectPtr&) { return ++visited < 2; });
  EXPECT_EQ(visited, 2);
  EXPECT_EQ(all[0]->decoded() + all[1]->decoded() + all[2]->decoded(), 2);
  unregistered->ForEach("other", [&](const ObjectPtr&) { return ++visited < 9; });
  EXPECT_EQ(visited, 2);
}

TEST_F(SharingInformerTest, CacheNeedsNoMemoryForObjects) {
  std::vector<Shared> objects;
  for (int i = 0; i < 100; ++i) {
    objects.push_back(Share(MakeMap("a" + std::to_string(i), "u" + std::to_string(i), 5 + i)));
  }
  ListShared(objects, 200);
  EXPECT_EQ(informer_->size(), 100);
  EXPECT_LT(informer_->bytes(), 100 * 200);
}

// The response to an own write arrives before its event and has memory of its own.
TEST_F(SharingInformerTest, EventReplacesOwnWriteWithoutAChange) {
  ListShared({Share(MakeMap("a", "u1", 5))}, 10);
  const ObjectPtr written = MakeMap("a", "u1", 11);
  informer_->ObserveWrite(written, 5, "me");
  const size_t own = informer_->bytes();
  const size_t seen = recorder_.seen().size();
  const Shared event = Share(written);
  EventOf(EventType::kModified, event);
  EXPECT_EQ(Cached("a"), event->object());
  EXPECT_LT(informer_->bytes(), own);
  EXPECT_EQ(recorder_.seen().size(), seen) << "handlers have seen this version";
}

TEST_F(SharingInformerTest, ListReplacesOwnWriteWithoutAChange) {
  ListShared({}, 10);
  const ObjectPtr written = MakeMap("a", "u1", 11);
  informer_->ObserveWrite(written, 0, "me");
  const size_t seen = recorder_.seen().size();
  const Shared listed = Share(written);
  ListShared({listed}, 12);
  EXPECT_EQ(Cached("a"), listed->object());
  EXPECT_EQ(recorder_.seen().size(), seen);
}

TEST_F(SharingInformerTest, OlderEventDoesNotReplaceOwnWrite) {
  ListShared({Share(MakeMap("a", "u1", 5))}, 10);
  informer_->ObserveWrite(MakeMap("a", "u1", 12), SharedInformer::kUnknownBase, "me");
  EventOf(EventType::kModified, Share(MakeMap("a", "u1", 11)));
  EXPECT_EQ(Kept(), "a@12");
}

TEST_F(SharingInformerTest, RelistSharesKnownVersions) {
  const Shared a = Share(MakeMap("a", "u1", 5));
  ListShared({a}, 10);
  ListShared({Share(MakeMap("a", "u1", 5))}, 11);
  EXPECT_EQ(Cached("a"), a->object());
}

}  // namespace
}  // namespace cox::sdk
