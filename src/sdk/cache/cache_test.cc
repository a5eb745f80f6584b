// SPDX-License-Identifier: Apache-2.0
#include "coxswain/cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "api/core/v1.h"
#include "base/testing/test_clock.h"
#include "sdk/testing/history_client.h"
#include "sdk/testing/test_recorder.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;
using std::chrono::seconds;

class CacheTest : public testing::Test {
 protected:
  void Start(CacheOptions options = {}) {
    options.resync = {};
    cache_ = Cache::Create(ctx_, client_, std::move(options), &metrics_);
  }
  static void Await(const std::function<bool()>& holds) {
    while (!holds()) std::this_thread::yield();
  }

  TestClock clock_;
  Context ctx_{clock_};
  HistoryClient client_;
  MetricsRegistry metrics_;
  std::unique_ptr<Cache> cache_;
};

TEST_F(CacheTest, OneInformerPerResourceIsShared) {
  client_.Put("ns", "a", "x");
  Start();
  const Informer<ConfigMap> informer = cache_->InformerOf<ConfigMap>();
  const Lister<ConfigMap> lister = cache_->ListerOf<ConfigMap>();
  EXPECT_EQ(&informer.shared(), cache_->Get(HistoryClient::Maps()).get());
  EXPECT_EQ(&informer.shared(), cache_->Find(HistoryClient::Maps()).get());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(lister.Get({"ns", "a"})->data.find("data")->second, "x");
  EXPECT_EQ(lister.List("ns").size(), 1);
  EXPECT_EQ(client_.requests().all(), 1);
  EXPECT_EQ(cache_->Find(Resource::Of<core::v1::Secret>()), nullptr);
}

struct DataIndex {
  static constexpr std::string_view kName = "data";
  static std::string Of(const ConfigMap& map) { return map.data.find("data")->second; }
};

TEST_F(CacheTest, IndexesAreTyped) {
  client_.Put("ns", "a", "x");
  client_.Put("ns", "b", "x");
  client_.Put("ns", "c", "");
  Start();
  const Index<ConfigMap, DataIndex> by_data = cache_->IndexOf<ConfigMap, DataIndex>();
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(by_data.Find("x").size(), 2);
  EXPECT_EQ(by_data.Find("").size(), 0);
}

TEST_F(CacheTest, CachesStructsJsonAndMetadataSeparately) {
  client_.Put("ns", "a", "x");
  Start();
  const Resource dynamic = Resource::Dynamic({"", "v1", "ConfigMap"}, "configmaps", true);
  const auto typed = cache_->Get(HistoryClient::Maps());
  const auto json = cache_->Get(dynamic);
  const auto metadata = cache_->MetadataInformerOf(HistoryClient::Maps());
  EXPECT_NE(typed, json);
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_TRUE(typed->Get({"ns", "a"})->is_typed());
  EXPECT_EQ(json->Get({"ns", "a"})->value().At({"data", "data"})->as_string(), "x");
  EXPECT_NE(metadata.shared().Get({"ns", "a"})->As<meta::v1::PartialObjectMetadata>(), nullptr);
  (void)typed->List("ns", {});
  const std::string text = metrics_.Render();
  EXPECT_NE(text.find("cache_objects_listed_total{group=\"\",kind=\"ConfigMap\",version=\"v1\"} 1"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("cache_objects{group=\"\",kind=\"ConfigMap\",version=\"v1\"} 3"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("cache_bytes{group=\"\",kind=\"ConfigMap\",version=\"v1\"} "),
            std::string::npos);
  // A write through the typed client updates all three informers.
  client_.execute = [this](const Operation&) { return Result<Object>(*client_.Put("ns", "b")); };
  const auto writing = cache_->WritingThrough(client_);
  ASSERT_TRUE(writing->Create<ConfigMap>(ctx_, {}).ok());
  EXPECT_NE(typed->Get({"ns", "b"}), nullptr);
  EXPECT_FALSE(json->Get({"ns", "b"})->is_typed());
  EXPECT_NE(metadata.shared().Get({"ns", "b"}), nullptr);
}

TEST_F(CacheTest, ScopesApplyPerResource) {
  client_.Put("one", "a", "x", {{"app", "web"}});
  client_.Put("one", "b");
  client_.Put("two", "c", "x", {{"app", "web"}});
  CacheScope scope;
  scope.namespaces = {"one"};
  scope.labels = *labels::Selector::Parse("app=web");
  scope.transform = [](Object& object) { object.As<ConfigMap>()->data.clear(); };
  scope.keep = CacheScope::Keep::kBytes;
  CacheOptions options;
  options.by_resource.emplace_back(HistoryClient::Maps(), scope);
  Start(options);
  const Lister<ConfigMap> lister = cache_->ListerOf<ConfigMap>();
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(lister.size(), 1);
  EXPECT_TRUE(lister.Get({"one", "a"})->data.empty());
}

TEST_F(CacheTest, AddsAndRemovesNamespacesAtRunTime) {
  client_.Put("one", "a");
  client_.Put("two", "b");
  CacheOptions options;
  options.defaults.namespaces = {"one"};
  Start(options);
  const auto informer = cache_->Get(HistoryClient::Maps());
  Recorder recorder;
  const InformerHandle handle = informer->AddHandler(recorder.handler());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(informer->size(), 1);
  cache_->AddNamespace("two");
  cache_->AddNamespace("two");
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(informer->size(), 2);
  EXPECT_EQ(client_.requests().streams, 2);
  client_.Put("two", "c");
  recorder.AwaitSeen(3);
  cache_->RemoveNamespace("one");
  EXPECT_EQ(informer->Get({"one", "a"}), nullptr);
  recorder.AwaitSeen(4);
  EXPECT_EQ(recorder.seen().back(), "-one/a");
  // Informers created later use the current namespaces.
  const auto later = cache_->GetMetadata(HistoryClient::Maps());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(later->size(), 2);
  EXPECT_EQ(recorder.broken(), std::vector<std::string>());
}

TEST_F(CacheTest, ScopeWithoutNamespacesIsEmptyAfterRemovingTheLast) {
  client_.Put("one", "a");
  CacheOptions options;
  options.defaults.namespaces = {"one"};
  Start(options);
  cache_->RemoveNamespace("one");
  const auto informer = cache_->Get(HistoryClient::Maps());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(informer->size(), 0);
  EXPECT_EQ(client_.requests().all(), 0);
  cache_->AddNamespace("one");
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(informer->size(), 1);
}

TEST_F(CacheTest, RemovedInformersKeepTheirLastStateAndCanBeRestarted) {
  client_.Put("ns", "a");
  Start();
  const auto informer = cache_->Get(HistoryClient::Maps());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  cache_->Remove(HistoryClient::Maps());
  EXPECT_EQ(cache_->Find(HistoryClient::Maps()), nullptr);
  client_.Put("ns", "b");
  const auto again = cache_->Get(HistoryClient::Maps());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  EXPECT_EQ(again->size(), 2);
  EXPECT_EQ(informer->size(), 1);
  cache_.reset();
  EXPECT_EQ(again->size(), 2);
}

TEST_F(CacheTest, HandlerMayRemoveItsOwnInformer) {
  Start();
  const auto informer = cache_->Get(HistoryClient::Maps());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  std::atomic<bool> called = false;
  const InformerHandle handle = informer->AddHandler([&](const Delta&) {
    cache_->Remove(HistoryClient::Maps());
    called = true;
  });
  client_.Put("ns", "a");
  Await([&] { return called.load(); });
}

TEST_F(CacheTest, WaitSyncedFailsWhenTheCacheEnds) {
  client_.Set({.away = Status::Unavailable("refused")});
  Start();
  const auto informer = cache_->Get(HistoryClient::Maps());
  Context parent = ctx_;
  std::thread waiter([&] {
    Context own(clock_);
    EXPECT_TRUE(informer->WaitSynced(own).Is(Reason::kServiceUnavailable));
  });
  parent.Stop();
  waiter.join();
}

TEST_F(CacheTest, ResyncsOnItsOwnThread) {
  client_.Put("ns", "a");
  Start();
  const auto informer = cache_->Get(HistoryClient::Maps());
  ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
  client_.AwaitFollowing(1);
  const size_t timers = clock_.timers();
  Recorder recorder;
  const InformerHandle handle = informer->AddHandler(recorder.handler(), {.resync = seconds(100)});
  clock_.WaitForTimers(timers + 1);  // the thread waits for the time of the resync
  clock_.Advance(seconds(110));
  recorder.AwaitSeen(2);
  EXPECT_EQ(recorder.seen(), (std::vector<std::string>{"+ns/a", "=ns/a"}));
}

// --- Writes.

class WriteThroughTest : public CacheTest {
 protected:
  void SetUp() override {
    first_ = client_.Put("ns", "a");
    Start();
    informer_ = cache_->Get(HistoryClient::Maps());
    ASSERT_TRUE(cache_->WaitForSync(ctx_).ok());
    client_.AwaitFollowing(1);
    HistoryClient::Faults faults;
    faults.silent = true;  // the watch delivers no events
    client_.Set(faults);
    writing_ = cache_->WritingThrough(client_);
    handle_ = informer_->AddHandler(recorder_.handler());
    recorder_.Clear();
  }
  // The server responds to the next requests with `object`.
  void Answer(const Object& object) {
    client_.execute = [object](const Operation&) { return Result<Object>(object); };
  }
  int64_t VersionOf(const std::string& name) const {
    const ObjectPtr object = informer_->Get({"ns", name});
    return object == nullptr ? 0 : HeadOf(*object).version;
  }
  ConfigMap First() const { return *first_->As<ConfigMap>(); }
  Context Me() const { return ctx_.WithValue(kWriter, "me"); }

  ObjectPtr first_;
  std::shared_ptr<SharedInformer> informer_;
  std::unique_ptr<Client> writing_;
  Recorder recorder_;
  InformerHandle handle_;
};

TEST_F(WriteThroughTest, UpdatesAreVisibleInTheCacheWhenTheyReturn) {
  const ObjectPtr changed = client_.Put("ns", "a", "changed");
  Answer(*changed);
  Context me = Me();
  ASSERT_TRUE(writing_->Update(me, First()).ok());
  EXPECT_EQ(VersionOf("a"), HeadOf(*changed).version);
  EXPECT_EQ(recorder_.last_writer(), "me");
}

TEST_F(WriteThroughTest, OnlyWritesBasedOnTheCachedVersionAreOwnWrites) {
  const std::string version = First().metadata.resourceVersion;
  const auto patch = [&](const std::string& body) {
    Answer(*client_.Put("ns", "a", body));
    Context me = Me();
    EXPECT_TRUE(writing_->PatchObject<ConfigMap>(me, {"ns", "a"}, Patch::Merge(body)).ok());
    return recorder_.last_writer();
  };
  EXPECT_EQ(patch(R"({"metadata":{"resourceVersion":")" + version + R"("}})"), "me");
  EXPECT_EQ(patch(R"({"data":{"a":"b"}})"), "");
  ConfigMap blind = First();
  blind.metadata.resourceVersion.clear();
  Answer(*client_.Put("ns", "a", "x"));
  Context me = Me();
  ASSERT_TRUE(writing_->Update(me, blind).ok());
  EXPECT_EQ(recorder_.last_writer(), "");
}

TEST_F(WriteThroughTest, ReadsDryRunsFailuresAndOtherKindsAreNotObserved) {
  const ObjectPtr changed = client_.Put("ns", "a", "changed");
  Answer(*changed);
  ASSERT_TRUE(writing_->Get<ConfigMap>(ctx_, {"ns", "a"}).ok());
  ASSERT_TRUE(writing_->Update(ctx_, First(), {.dry_run = true}).ok());
  ASSERT_TRUE(writing_->Delete<ConfigMap>(ctx_, {"ns", "a"}, {.dry_run = true}).ok());
  client_.execute = [](const Operation&) { return Result<Object>(Status::Conflict("no")); };
  EXPECT_FALSE(writing_->Update(ctx_, First()).ok());
  core::v1::Secret other;  // stands for a Scale
  other.metadata = changed->As<ConfigMap>()->metadata;
  Answer(Object::Of(other));
  EXPECT_FALSE(writing_->Update(ctx_, First(), {.subresource = "scale"}).ok());
  EXPECT_EQ(VersionOf("a"), HeadOf(*first_).version);
  EXPECT_TRUE(recorder_.seen().empty());
}

TEST_F(WriteThroughTest, DeletionIsObservedOnlyWhenTheObjectIsGone) {
  const auto status = [&](const std::string& uid) {
    meta::v1::Status out;
    out.details.ensure().uid = uid;
    return Object::Of(out);
  };
  ConfigMap going = First();
  going.metadata.deletionTimestamp = Time();
  going.metadata.resourceVersion = std::to_string(client_.version() + 10);
  going.metadata.finalizers = {"example.com/hold"};
  Answer(Object::Of(going));
  ASSERT_TRUE(writing_->Delete<ConfigMap>(ctx_, {"ns", "a"}).ok());
  EXPECT_NE(informer_->Get({"ns", "a"}), nullptr);
  EXPECT_TRUE(HeadOf(*informer_->Get({"ns", "a"})).deleting);

  Answer(status("another"));
  ASSERT_TRUE(writing_->Delete<ConfigMap>(ctx_, {"ns", "a"}).ok());
  EXPECT_NE(informer_->Get({"ns", "a"}), nullptr);

  // Removing the last finalizer removes the object.
  going.metadata.finalizers.clear();
  Answer(Object::Of(going));
  ASSERT_TRUE(writing_->Update(ctx_, going).ok());
  EXPECT_EQ(informer_->Get({"ns", "a"}), nullptr);

  const ObjectPtr b = client_.Put("ns", "b");
  Answer(*b);
  ASSERT_TRUE(writing_->Create(ctx_, ConfigMap()).ok());
  EXPECT_NE(informer_->Get({"ns", "b"}), nullptr);
  Answer(status(HeadOf(*b).uid));
  ASSERT_TRUE(writing_->Delete<ConfigMap>(ctx_, {"ns", "b"}).ok());
  EXPECT_EQ(informer_->Get({"ns", "b"}), nullptr);
  EXPECT_EQ(recorder_.broken(), std::vector<std::string>());
}

}  // namespace
}  // namespace cox::sdk
