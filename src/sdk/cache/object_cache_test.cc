// SPDX-License-Identifier: Apache-2.0
#include "coxswain/object_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/test_clock.h"
#include "sdk/testing/history_client.h"
#include "sdk/testing/test_recorder.h"

namespace cox::sdk {
namespace {

using std::chrono::seconds;

class ObjectCacheTest : public testing::Test {
 protected:
  std::unique_ptr<CachedObject> Watch(const std::string& name) {
    return cache_->Watch(HistoryClient::Maps(), {"ns", name}, recorder_.handler());
  }
  // Advances the clock until `holds`, because pool threads start their timers at any time.
  void AdvanceUntil(const std::function<bool()>& holds) {
    while (!holds()) {
      clock_.Advance(seconds(1));
      std::this_thread::yield();
    }
  }

  TestClock clock_;
  Context ctx_{clock_};
  HistoryClient server_;
  Recorder recorder_;
  std::unique_ptr<ObjectCache> cache_ = ObjectCache::Create(ctx_, server_, {});
};

TEST_F(ObjectCacheTest, DeliversListAndChangesOfTheObjectOnly) {
  server_.Put("ns", "a", "one");
  server_.Put("ns", "b", "one");
  const auto object = Watch("a");
  const std::shared_ptr<SharedInformer> informer = object->informer();
  ASSERT_TRUE(informer->WaitSynced(ctx_).ok());
  ASSERT_NE(informer->Get({"ns", "a"}), nullptr);
  EXPECT_EQ(informer->size(), 1U);
  EXPECT_EQ(server_.last_watch().list.ns, "ns");
  EXPECT_EQ(server_.last_watch().list.fields.ToString(), "metadata.name=a");
  server_.Put("ns", "b", "two");
  server_.Put("ns", "a", "two");
  server_.Remove("ns", "a");
  server_.Put("ns", "a", "three");
  recorder_.AwaitVersion("ns/a", server_.version());
  EXPECT_EQ(recorder_.seen().front(), "+ns/a");
  EXPECT_TRUE(recorder_.broken().empty());
}

TEST_F(ObjectCacheTest, ResumesAfterTheWatchEndsAndListsAgainAfterExpiration) {
  server_.Put("ns", "a", "one");
  const auto object = Watch("a");
  server_.AwaitFollowing(1);
  server_.EndWatches(EndOfWatch());
  AdvanceUntil([&] { return server_.requests().watches == 1 && server_.Follows(); });
  EXPECT_EQ(server_.requests().streams, 1) << "resumed from the last version";
  server_.Set({.away = Status::Unavailable("down")});
  const int requests = server_.requests().all();
  server_.EndWatches(Status::Unavailable("the connection broke"));
  AdvanceUntil([&] { return server_.requests().all() > requests; });
  const int64_t last = HeadOf(*server_.Put("ns", "a", "two")).version;
  server_.SkipVersions(10);
  server_.Set({.compacted = last + 5});
  AdvanceUntil([&] { return recorder_.VersionOf("ns/a") == last; });
  EXPECT_EQ(server_.requests().streams, 2) << "listed again";
  EXPECT_TRUE(recorder_.broken().empty());
}

TEST_F(ObjectCacheTest, FailedRequestsAreRepeatedWithBackoff) {
  server_.Put("ns", "a", "one");
  server_.Set({.away = Status::Forbidden("not yours")});
  const auto object = Watch("a");
  server_.AwaitAsked([](const auto& requests) { return requests.all() == 1; });
  AdvanceUntil([&] { return server_.requests().all() >= 4; });
  // The delays double from 0.8 s, so that the next minute contains only a few attempts.
  const int before = server_.requests().all();
  for (int i = 0; i < 60; ++i) clock_.Advance(seconds(1));
  EXPECT_LE(server_.requests().all() - before, 20);
  EXPECT_FALSE(object->informer()->HasSynced());
  server_.Set({});
  AdvanceUntil([&] { return object->informer()->HasSynced(); });
  recorder_.AwaitSeen(1);  // the informer is synced before its handler is called
  EXPECT_EQ(recorder_.seen(), (std::vector<std::string>{"+ns/a"}));
}

TEST_F(ObjectCacheTest, WatchThatTheServerDoesNotEndIsRestarted) {
  const auto object = Watch("a");
  server_.AwaitFollowing(1);
  server_.Set({.silent = true});
  AdvanceUntil([&] { return server_.requests().watches >= 1; });
}

TEST_F(ObjectCacheTest, FinalObjectIsNotWatched) {
  const std::unique_ptr<ObjectCache> cache = ObjectCache::Create(
      ctx_, server_, {.cache = {}, .is_final = [](const Object& object) {
                        return *object.As<HistoryClient::Map>()->data.Get("data") == "final";
                      }});
  server_.Put("ns", "a", "one");
  const auto object = cache->Watch(HistoryClient::Maps(), {"ns", "a"}, recorder_.handler());
  server_.AwaitFollowing(1);
  const int64_t last = HeadOf(*server_.Put("ns", "a", "final")).version;
  recorder_.AwaitVersion("ns/a", last);
  while (server_.Follows()) std::this_thread::yield();
  const int requests = server_.requests().all();
  for (int i = 0; i < 1000; ++i) clock_.Advance(seconds(1));
  EXPECT_EQ(server_.requests().all(), requests);
  EXPECT_EQ(HeadOf(*object->informer()->Get({"ns", "a"})).version, last);
}

TEST_F(ObjectCacheTest, DestroyingTheObjectEndsItsWatch) {
  auto object = Watch("a");
  server_.AwaitFollowing(1);
  const std::shared_ptr<SharedInformer> informer = object->informer();
  object.reset();
  EXPECT_FALSE(server_.Follows());
  server_.Put("ns", "a", "one");
  EXPECT_TRUE(recorder_.seen().empty());
  EXPECT_EQ(informer->size(), 0U);
}

}  // namespace
}  // namespace cox::sdk
