// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/watch_source.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"
#include "coxswain/client.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using core::v1::ConfigMap;
using storage::Change;
using storage::ChangeType;
using storage::EntryPtr;

// Returns prepared batches, and the status after the last one if it is not OK.
class FakeWatcher final : public storage::Watcher {
 public:
  struct Script {
    std::deque<Batch> batches;
    Status end;
    int empty_takes = 0;
  };
  explicit FakeWatcher(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Result<Batch> Take(size_t) override {
    if (!script_->batches.empty()) {
      Batch batch = std::move(script_->batches.front());
      script_->batches.pop_front();
      return batch;
    }
    if (!script_->end.ok()) return script_->end;
    ++script_->empty_takes;
    return Batch{};
  }

 private:
  const std::shared_ptr<Script> script_;
};

class WatchSourceTest : public ::testing::Test {
 protected:
  WatchSourceTest() {
    for (const char* name : {"a", "b", "c"}) {
      FakeCall made = api_.Do({.method = "POST",
                               .target = "/api/v1/namespaces/default/configmaps",
                               .body = R"({"metadata":{"name":")" + std::string(name) +
                                       R"(","labels":{"name":")" + std::string(name) + R"("}}})"});
      EXPECT_EQ(made.exchange().status(), 201);
    }
    api_.Sync(ConfigMap::kKind);
  }

  EntryPtr Entry(const std::string& name) {
    return maps_->store()
        .cache()
        ->Read(api_.ctx(), {})
        .value()
        ->Find(maps_->store().Key("default", name));
  }
  static storage::ChangePtr Added(EntryPtr entry) {
    const storage::Revision revision = entry->revision();
    return std::make_shared<const Change>(
        Change{ChangeType::kAdded, std::move(entry), nullptr, revision});
  }
  void Bring(std::vector<storage::ChangePtr> changes, bool more = false) {
    const storage::Revision revision = changes.empty() ? 0 : changes.back()->revision;
    script_->batches.push_back(
        {.changes = std::move(changes), .revision = revision, .more = more, .ended = false});
  }
  std::unique_ptr<WatchSource> Make(ReadOptions options = {}, Accepted accepted = {}) {
    auto source = std::make_unique<WatchSource>(
        *maps_, std::move(options),
        EventWriter(*maps_, std::move(accepted), IncludeObject::kMetadata, api_.clock()),
        std::make_shared<WakeRelay>());
    source->set_watcher(std::make_unique<FakeWatcher>(script_));
    return source;
  }
  // "+a ~b -c", then "..." if no event is left, or the error.
  static std::string TakeAll(WatchSource& source) {
    std::string text;
    for (;;) {
      const auto event = source.Take();
      if (!event.ok()) return text + (IsEndOfWatch(event.status()) ? "end" : "error");
      if (!event->has_value()) return text + "...";
      text += "+~-#"[static_cast<size_t>((*event)->type)];
      if ((*event)->object != nullptr) text += (*event)->object->name();
      text += ' ';
    }
  }
  // The same for encoded events, pulled in the smallest possible steps.
  static std::string PullAll(WatchSource& source) {
    std::string text;
    for (;;) {
      std::vector<Bytes> pieces;
      const auto state = source.Pull(/*budget=*/1, &pieces);
      std::string event;
      for (const Bytes& piece : pieces) event += piece.view();
      if (!event.empty()) {
        const Result<Value> value = json::Parse(event);
        if (!value.ok()) return text.append("unreadable: ").append(event);
        const std::string type(value->Find("type")->as_string());
        if (type == "ERROR") return text + "error";
        const Value* name = value->At({"object", "metadata", "name"});
        text += type == "ADDED" ? '+' : type == "MODIFIED" ? '~' : type == "DELETED" ? '-' : '#';
        if (name != nullptr) text += name->as_string();
        text += ' ';
      }
      if (state == net::BodySource::State::kWait) return text + "...";
      if (state == net::BodySource::State::kEnd) return text + "end";
    }
  }

  ApiHarness api_;
  const std::shared_ptr<const ServedResource> maps_ = api_.registry().Find("", "v1", "configmaps");
  const std::shared_ptr<FakeWatcher::Script> script_ = std::make_shared<FakeWatcher::Script>();
};

// Changes after a call of Take wake the reader at most once, perhaps before it waits. If the source
// reported nothing after a Take that returned changes, the reader could miss the next wake-up.
TEST_F(WatchSourceTest, ReportsNothingOnlyIfTheLastTakeWasEmpty) {
  for (const bool encoded : {false, true}) {
    SCOPED_TRACE(encoded);
    script_->empty_takes = 0;
    Bring({Added(Entry("a")), Added(Entry("b"))});
    Bring({Added(Entry("c"))});
    const auto source = Make();
    EXPECT_EQ(encoded ? PullAll(*source) : TakeAll(*source), "+a +b +c ...");
    EXPECT_EQ(script_->empty_takes, 1);
  }
}

TEST_F(WatchSourceTest, StoredAndEncodedEventsAreTheSame) {
  const EntryPtr a = Entry("a"), b = Entry("b"), c = Entry("c");
  for (const bool encoded : {false, true}) {
    SCOPED_TRACE(encoded);
    Bring({Added(b)}, /*more=*/true);
    // The labels of `a` and `b` differ: to a watcher of one of them, the object appears or is gone.
    Bring({std::make_shared<const Change>(Change{ChangeType::kModified, b, b, 20}),
           std::make_shared<const Change>(Change{ChangeType::kModified, a, b, 21}),
           std::make_shared<const Change>(Change{ChangeType::kModified, b, a, 22}),
           std::make_shared<const Change>(
               Change{ChangeType::kDeleted, storage::Entry::CreateDeleted(b, 23), b, 23})});
    ReadOptions only_b;
    only_b.label_selector = *labels::Selector::Parse("name=b");
    const auto source = Make(only_b);
    source->set_initial({b}, 10, /*mark_end=*/true);
    EXPECT_EQ(encoded ? PullAll(*source) : TakeAll(*source), "+b # +b ~b -b +b -b ...");
  }
}

TEST_F(WatchSourceTest, StoredEventHasTheVersionOfItsChange) {
  const EntryPtr a = Entry("a"), b = Entry("b");
  Bring({std::make_shared<const Change>(Change{ChangeType::kModified, a, b, 21})});
  ReadOptions only_b;
  only_b.label_selector = *labels::Selector::Parse("name=b");
  const auto source = Make(only_b);
  const auto event = source->Take();
  ASSERT_TRUE(event.ok() && event->has_value());
  EXPECT_EQ((*event)->type, EventType::kDeleted);
  EXPECT_EQ((*event)->version, 21);
  EXPECT_EQ((*event)->object->Decode()->object_meta()->resourceVersion, "21");
  EXPECT_EQ((*event)->object->Decode()->object_meta()->name, "b") << "its last selected state";
}

TEST_F(WatchSourceTest, ErrorIsTheLastEvent) {
  for (const bool encoded : {false, true}) {
    Bring({Added(Entry("a"))});
    script_->end = Status::Expired("too slow");
    const auto source = Make();
    EXPECT_EQ(encoded ? PullAll(*source) : TakeAll(*source), "+a error");
  }
}

// Other forms of the objects than that of the cache need bytes.
TEST_F(WatchSourceTest, OffersStoredEventsUnlessTheClientWantsAnotherForm) {
  const auto offers = [this](Accepted accepted) {
    const auto source = Make({}, std::move(accepted));
    return source->content() != nullptr;
  };
  EXPECT_TRUE(offers({.format = Format::kProtobuf}));
  EXPECT_TRUE(offers({.format = Format::kJson}));
  EXPECT_FALSE(offers({.format = Format::kJson, .transform = Transform::kTable}));
  EXPECT_FALSE(offers({.format = Format::kProtobuf, .transform = Transform::kPartialMetadata}));
}

}  // namespace
}  // namespace cox::apiserver
