// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/reflector.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "sdk/testing/history_client.h"
#include "sdk/testing/sharing_client.h"
#include "sdk/testing/test_recorder.h"

namespace cox::sdk {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class ReflectorTest : public testing::Test {
 protected:
  ~ReflectorTest() override {
    scope_.Stop();
    scope_.Wait();
    EXPECT_EQ(recorder_.broken(), std::vector<std::string>());
  }

  void Start() { Start(client_); }
  void Start(Client& client) {
    const auto feed = informer_->StartFeed("");
    auto reflector = std::make_shared<Reflector>(client, options_, informer_, feed, "", &metrics_);
    ASSERT_TRUE(scope_.Go("reflector", [reflector](Context& ctx) { reflector->Run(ctx); }).ok());
  }
  void StartAndSync() {
    Start();
    ASSERT_TRUE(informer_->WaitSynced(ctx_).ok());
    client_.AwaitFollowing(1);
  }
  // Advances the clock while the reflector only fails and waits.
  void Pass(Clock::Duration time, Clock::Duration step = seconds(1)) {
    for (; time > Clock::Duration(); time -= step) {
      clock_.WaitForWaiters(1);
      clock_.Advance(step);
    }
    clock_.WaitForWaiters(1);
  }
  // Advances the clock whenever the reflector waits, until `holds` is true.
  void Until(const std::function<bool()>& holds) {
    while (!holds()) {
      if (clock_.waiters() > 0) clock_.Advance(seconds(1));
      std::this_thread::yield();
    }
  }

  TestClock clock_;
  Context ctx_{clock_};
  HistoryClient client_;
  CacheOptions options_;
  MetricsRegistry registry_;
  ReflectorMetrics metrics_{registry_};
  const std::shared_ptr<ResourceInformer> informer_ =
      std::make_shared<ResourceInformer>(HistoryClient::Maps(), false, CacheScope(), clock_,
                                         Clock::Duration(), std::make_shared<Notification>());
  Recorder recorder_;
  const InformerHandle handle_ = informer_->AddHandler(recorder_.handler());
  Scope scope_{ctx_, "test"};
};

TEST_F(ReflectorTest, StreamsTheInitialListAndContinuesOnTheSameWatch) {
  client_.Put("ns", "a");
  StartAndSync();
  EXPECT_EQ(informer_->size(), 1);
  EXPECT_TRUE(recorder_.last().initial);
  const ObjectPtr b = client_.Put("ns", "b");
  recorder_.AwaitVersion("ns/b", HeadOf(*b).version);
  EXPECT_EQ(client_.requests().streams, 1);
  EXPECT_EQ(client_.requests().all(), 1);
  const WatchOptions asked = client_.last_watch();
  EXPECT_EQ(asked.list.resource_version, "");
  EXPECT_EQ(asked.list.resource_version_match, "NotOlderThan");
  EXPECT_TRUE(asked.bookmarks);
  EXPECT_GE(asked.timeout, options_.watch_timeout);
  EXPECT_LT(asked.timeout, 2 * options_.watch_timeout);
  EXPECT_NE(registry_.Render().find("reflector_lists_total{name=\"configmaps\"} 1"),
            std::string::npos);
}

TEST_F(ReflectorTest, TakesStoredEventsIfTheServerOffersThem) {
  SharingClient sharing(client_, *HistoryClient::Maps().info);
  client_.Put("ns", "a");
  Start(sharing);
  ASSERT_TRUE(informer_->WaitSynced(ctx_).ok());
  client_.AwaitFollowing(1);
  EXPECT_TRUE(recorder_.last().initial);
  const ObjectPtr b = client_.Put("ns", "b");
  recorder_.AwaitVersion("ns/b", HeadOf(*b).version);
  client_.Remove("ns", "a");
  recorder_.AwaitSeen(3);
  EXPECT_EQ(informer_->resource_version(), std::to_string(HeadOf(*b).version + 1));
  EXPECT_EQ(sharing.taken(), 4) << "with the bookmark after the list";
  client_.EndWatches(EndOfWatch());
  Until([&] { return client_.requests().watches == 1; });
  EXPECT_EQ(client_.last_watch().list.resource_version, informer_->resource_version());
  scope_.Stop();  // the reflector uses `sharing`
  scope_.Wait();
}

TEST_F(ReflectorTest, ChangesDuringTheStreamedListAreApplied) {
  client_.Put("ns", "deleted");
  const int64_t begins = HeadOf(*client_.Put("ns", "changed")).version;
  const ObjectPtr changed = client_.Put("ns", "changed");
  client_.Put("ns", "added");
  client_.Remove("ns", "deleted");
  client_.Set({.list_begins = begins});
  StartAndSync();
  EXPECT_EQ(informer_->size(), 2);
  EXPECT_EQ(informer_->Get({"ns", "deleted"}), nullptr);
  EXPECT_EQ(HeadOf(*informer_->Get({"ns", "changed"})).version, HeadOf(*changed).version);
  EXPECT_NE(informer_->Get({"ns", "added"}), nullptr);
}

TEST_F(ReflectorTest, FallsBackToPagedListsIfStreamingIsRejected) {
  const struct {
    const char* what;
    HistoryClient::Faults faults;
  } kCases[] = {
      {"422", {.streaming = Status::Invalid("sendInitialEvents is forbidden")}},
      {"400", {.streaming = Status::BadRequest("unknown parameter")}},
      {"ignores it", {.end_after = 0, .no_end_bookmark = true}},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    HistoryClient client;
    const ObjectPtr a = client.Put("ns", "a");
    client.Set(c.faults);
    Recorder recorder;
    auto informer =
        std::make_shared<ResourceInformer>(HistoryClient::Maps(), false, CacheScope(), clock_,
                                           Clock::Duration(), std::make_shared<Notification>());
    const InformerHandle handle = informer->AddHandler(recorder.handler());
    Scope scope(ctx_, "test");
    auto reflector = std::make_shared<Reflector>(client, options_, informer,
                                                 informer->StartFeed(""), "", nullptr);
    ASSERT_TRUE(scope.Go("reflector", [&](Context& ctx) { reflector->Run(ctx); }).ok());
    Until([&] { return client.requests().watches > 0; });
    client.Set({.streaming = c.faults.streaming});
    Until([&] { return client.Follows(); });
    EXPECT_TRUE(informer->HasSynced());
    EXPECT_EQ(client.requests().lists, 1);
    EXPECT_EQ(client.last_list().page_size, options_.page_size);
    EXPECT_EQ(client.last_watch().list.resource_version, std::to_string(client.version()));
    // After Expired it lists again in pages, without another streaming attempt.
    client.Put("ns", "b");
    client.EndWatches(Status::Expired("gone"));
    Until([&] { return client.requests().lists == 2; });
    EXPECT_EQ(client.requests().streams, 1);
    scope.Stop();
    scope.Wait();
    EXPECT_EQ(recorder.broken(), std::vector<std::string>());
  }
}

TEST_F(ReflectorTest, ResumesFromTheLastVersionAfterANormalEndOfWatch) {
  client_.Put("ns", "a");
  StartAndSync();
  const ObjectPtr b = client_.Put("ns", "b");
  recorder_.AwaitVersion("ns/b", HeadOf(*b).version);
  clock_.Advance(seconds(10));
  client_.EndWatches(EndOfWatch());
  client_.AwaitAsked([](const auto& asked) { return asked.watches == 1; });  // without delay
  EXPECT_EQ(client_.last_watch().list.resource_version, std::to_string(client_.version()));
  EXPECT_EQ(client_.last_watch().list.resource_version_match, "");
  const ObjectPtr c = client_.Put("ns", "c");
  recorder_.AwaitVersion("ns/c", HeadOf(*c).version);
  EXPECT_EQ(client_.requests().all(), 2);
}

TEST_F(ReflectorTest, BookmarksAdvanceTheVersion) {
  StartAndSync();
  client_.SkipVersions(50);
  client_.Bookmark();
  Until([this] { return informer_->resource_version() == std::to_string(client_.version()); });
  clock_.Advance(seconds(10));
  client_.Set({.compacted = client_.version()});
  client_.EndWatches(EndOfWatch());
  client_.AwaitAsked([](const auto& asked) { return asked.watches == 1; });
  client_.AwaitFollowing(1);
  EXPECT_EQ(client_.requests().all(), 2) << "nothing was too old";
}

TEST_F(ReflectorTest, RelistsNotOlderThanBeforeAfterExpired) {
  client_.Put("ns", "a");
  client_.Put("ns", "b");
  StartAndSync();
  const int64_t before = client_.version();
  client_.Set({.silent = true});
  client_.Remove("ns", "a");
  const ObjectPtr b = client_.Put("ns", "b", "changed");
  client_.Set({.compacted = client_.version(), .silent = true});
  client_.EndWatches(Status::Expired("too old"));
  recorder_.AwaitVersion("ns/b", HeadOf(*b).version);
  recorder_.AwaitVersion("ns/a", 0);
  EXPECT_EQ(client_.requests().streams, 2);
  EXPECT_EQ(client_.last_watch().list.resource_version, std::to_string(before));
  EXPECT_EQ(client_.last_watch().list.resource_version_match, "NotOlderThan");
}

TEST_F(ReflectorTest, SilentWatchIsCanceledByTheClient) {
  StartAndSync();
  client_.Set({.silent = true});
  const ObjectPtr a = client_.Put("ns", "a");
  clock_.Advance(2 * options_.watch_timeout + seconds(10));
  client_.AwaitAsked([](const auto& asked) { return asked.watches == 1; });
  client_.Set({});
  recorder_.AwaitVersion("ns/a", HeadOf(*a).version);
}

TEST_F(ReflectorTest, BrokenWatchResumesWhereItBroke) {
  StartAndSync();
  const ObjectPtr a = client_.Put("ns", "a");
  recorder_.AwaitVersion("ns/a", HeadOf(*a).version);
  client_.EndWatches(Status::Unavailable("connection reset by peer"));
  clock_.WaitForWaiters(1);
  const ObjectPtr b = client_.Put("ns", "b");
  clock_.Advance(seconds(2));
  recorder_.AwaitVersion("ns/b", HeadOf(*b).version);
  EXPECT_EQ(client_.requests().watches, 1);
  EXPECT_EQ(client_.requests().streams, 1);
}

TEST_F(ReflectorTest, UnavailableServerIsRetriedWithBackoffAndTheCacheStaysReadable) {
  client_.Put("ns", "a");
  StartAndSync();
  client_.Set({.away = Status::Unavailable("connection refused")});
  client_.EndWatches(Status::Unavailable("connection reset by peer"));
  Pass(minutes(10));
  EXPECT_EQ(informer_->size(), 1);
  EXPECT_TRUE(informer_->HasSynced());
  // 0.8, 1.6, ... 25.6, then 30 s each, each with up to 100% jitter.
  EXPECT_GE(client_.requests().watches, 10);
  EXPECT_LE(client_.requests().watches, 27);
  const ObjectPtr a = client_.Put("ns", "a", "changed");
  client_.Set({});
  clock_.Advance(minutes(1));
  recorder_.AwaitVersion("ns/a", HeadOf(*a).version);
}

TEST_F(ReflectorTest, RequestRateIsBoundedForAllServerErrors) {
  const struct {
    const char* what;
    HistoryClient::Faults faults;
    int at_most;  // in ten minutes
  } kCases[] = {
      {"watches end at once", {.end_after = 0}, 30},
      {"watches fail",
       {.streaming = Status::Invalid("no"), .watching = Status::Internal("no")},
       60},
      {"lists refused", {.streaming = Status::Forbidden("no")}, 30},
      {"too old as soon as it is listed",
       {.streaming = Status::Invalid("no"), .watching = Status::Expired("too old")},
       60},
      {"nobody may", {.away = Status(Reason::kUnauthorized, "who are you")}, 30},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    HistoryClient client;
    client.Set(c.faults);
    auto informer =
        std::make_shared<ResourceInformer>(HistoryClient::Maps(), false, CacheScope(), clock_,
                                           Clock::Duration(), std::make_shared<Notification>());
    Scope scope(ctx_, "test");
    auto reflector = std::make_shared<Reflector>(client, options_, informer,
                                                 informer->StartFeed(""), "", nullptr);
    ASSERT_TRUE(scope.Go("reflector", [&](Context& ctx) { reflector->Run(ctx); }).ok());
    for (int i = 0; i < 600; ++i) {
      clock_.WaitForWaiters(1);
      clock_.Advance(seconds(1));
    }
    EXPECT_LE(client.requests().all(), c.at_most);
    EXPECT_GE(client.requests().all(), 10);
    scope.Stop();
    scope.Wait();
  }
}

// Each watch delivers one event and ends: restarts are spaced, without growing delays.
TEST_F(ReflectorTest, ShortWatchesAreSpaced) {
  StartAndSync();
  client_.Set({.end_after = 1});
  for (int i = 0; i < 300; ++i) {
    const ObjectPtr a = client_.Put("ns", "a", std::to_string(i));
    // Advances the clock until the event arrives.
    while (recorder_.VersionOf("ns/a") != HeadOf(*a).version) {
      clock_.Advance(std::chrono::milliseconds(100));
      std::this_thread::yield();
    }
  }
  EXPECT_LE(client_.requests().watches, 301);
}

TEST_F(ReflectorTest, RespectsRetryAfter) {
  StartAndSync();
  client_.Set({.away = Status(Reason::kTooManyRequests, "busy", {.retry_after_seconds = 120})});
  client_.EndWatches(Status::Unavailable("reset"));
  client_.AwaitAsked([](const auto& asked) { return asked.all() == 1; });
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(2));
  client_.AwaitAsked([](const auto& asked) { return asked.all() == 2; });
  clock_.WaitForWaiters(1);
  Pass(seconds(118));
  EXPECT_EQ(client_.requests().all(), 2);
  client_.Set({});
  clock_.Advance(seconds(10));
  client_.AwaitAsked([](const auto& asked) { return asked.all() == 3; });
}

TEST_F(ReflectorTest, ListFromALaggingServerIsRejected) {
  client_.Put("ns", "a");
  const int64_t old = client_.version();
  const ObjectPtr b = client_.Put("ns", "b");
  StartAndSync();
  client_.Set({.stale = old});
  client_.EndWatches(Status::Expired("too old"));
  client_.AwaitAsked([](const auto& asked) { return asked.streams == 2; });
  clock_.WaitForWaiters(1);
  EXPECT_EQ(informer_->size(), 2);
  client_.Set({});
  clock_.Advance(seconds(5));
  client_.AwaitAsked([](const auto& asked) { return asked.streams == 3; });
  client_.AwaitFollowing(1);
  EXPECT_EQ(client_.last_watch().list.resource_version, "") << "the newest, this time";
  EXPECT_EQ(informer_->size(), 2);
}

TEST_F(ReflectorTest, ListsTheNewestVersionAfterTooLargeResourceVersion) {
  StartAndSync();
  client_.Set({.watching = Status(Reason::kTimeout, "Too large resource version: 999")});
  clock_.Advance(seconds(10));
  client_.EndWatches(EndOfWatch());
  client_.AwaitAsked([](const auto& asked) { return asked.watches == 1; });
  clock_.WaitForWaiters(1);
  client_.Set({});
  clock_.Advance(seconds(3));
  client_.AwaitAsked([](const auto& asked) { return asked.streams == 2; });
  EXPECT_EQ(client_.last_watch().list.resource_version, "");
}

TEST_F(ReflectorTest, ExpiredContinueTokenFallsBackToAListWithoutPaging) {
  options_.streaming_lists = false;
  client_.Put("ns", "a");
  client_.Set({.paging = Status::Expired("The provided continue parameter is too old")});
  Start();
  Until([this] { return informer_->HasSynced(); });
  EXPECT_EQ(client_.last_list().page_size, 0);
}

TEST_F(ReflectorTest, UndecodableEventCausesARelist) {
  StartAndSync();
  const ObjectPtr a = client_.Put("ns", "a");
  client_.EndWatches(Status::Internal("unable to decode an event"));
  Until([this] { return client_.requests().streams == 2; });
  recorder_.AwaitVersion("ns/a", HeadOf(*a).version);
}

// Random combination of faults: the cache converges, and versions never go back.
TEST_F(ReflectorTest, ConvergesUnderRandomFaults) {
  std::minstd_rand random(7);
  StartAndSync();
  const auto maybe = [&random](unsigned in) { return random() % in == 0; };
  ObjectPtr last;
  for (int i = 0; i < 400; ++i) {
    last =
        client_.Put("ns", std::string(1, static_cast<char>('a' + random() % 5)), std::to_string(i));
    if (maybe(4)) client_.Remove("ns", HeadOf(*last).key.name);
    if (maybe(5)) client_.Replay(EventType::kModified, last);
    if (maybe(6)) client_.EndWatches(EndOfWatch());
    if (maybe(6)) client_.EndWatches(Status::Unavailable("reset"));
    if (maybe(9)) client_.EndWatches(Status::Expired("too old"));
    HistoryClient::Faults faults;
    if (maybe(5)) faults.away = Status::Unavailable("refused");
    if (maybe(5)) faults.compacted = client_.version();
    if (maybe(5)) faults.end_after = 1;
    if (maybe(9)) faults.silent = true;
    if (maybe(9)) faults.stale = client_.version() - 3;
    client_.Set(faults);
    if (clock_.waiters() > 0) clock_.Advance(seconds(1));
  }
  client_.Set({});
  client_.EndWatches(Status::Unavailable("reset"));
  last = client_.Put("ns", "end");
  Until([this] { return informer_->Get({"ns", "end"}) != nullptr; });
  recorder_.AwaitVersion("ns/end", HeadOf(*last).version);
  EXPECT_EQ(recorder_.versions(), client_.Versions());
}

}  // namespace
}  // namespace cox::sdk
