// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/watch_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/testing/test_clock.h"
#include "storage/errors.h"
#include "storage/memory/memory_store.h"
#include "storage/testing/faulty_store.h"
#include "storage/testing/test_support.h"

namespace cox::storage {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Match = Freshness::Match;

constexpr char kPods[] = "/r/pods/";

// A watcher that collects all changes, like the server: when woken, it takes everything.
class Gatherer {
 public:
  Gatherer(Context& ctx, WatchCache& cache, std::string prefix, Revision after) : ctx_(ctx) {
    auto watcher = cache.Watch(std::move(prefix), after, [this] {
      MutexLock lock(mu_);
      woken_ = true;
      changed_.NotifyAll();
    });
    EXPECT_TRUE(watcher.ok()) << watcher.status().ToString();
    watcher_ = std::move(*watcher);
  }

  // Waits until there are `count` changes or the watch has ended.
  std::vector<std::string> Until(size_t count) {
    while (ended_.ok() && changes_.size() < count) {
      MutexLock lock(mu_);
      Context limited = ctx_.WithTimeout(seconds(20));
      const Status status =
          limited.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return woken_; });
      EXPECT_TRUE(status.ok()) << "no change came after " << changes_.size();
      if (!status.ok()) break;
      woken_ = false;
      lock.Unlock();
      TakeAll();
      lock.Lock();
    }
    return ToText(changes_);
  }
  // Waits until the watch has ended.
  Status UntilEnd() {
    Until(SIZE_MAX);
    return ended_;
  }
  const std::vector<ChangePtr>& changes() const { return changes_; }

 private:
  void TakeAll() {
    for (bool more = true; more;) {
      auto batch = watcher_->Take(3);
      if (!batch.ok()) {
        ended_ = batch.status();
        return;
      }
      changes_.insert(changes_.end(), batch->changes.begin(), batch->changes.end());
      more = batch->more;
    }
  }

  Context& ctx_;
  Mutex mu_;
  CondVar changed_;
  bool woken_ COX_GUARDED_BY(mu_) = true;
  std::vector<ChangePtr> changes_;
  Status ended_;
  std::unique_ptr<Watcher> watcher_;
};

// Uses a memory store wrapped in a FaultyStore.
class WatchCacheTest : public ::testing::Test {
 protected:
  WatchCache& Start() {
    WatchCache::Options options;
    options.resource = "pods";
    options.prefix = kPods;
    options.head_reader = &heads_;
    options.metrics = &metrics_;
    cache_ = WatchCache::Create(ctx_, store(), std::move(options));
    EXPECT_TRUE(cache_->WaitReady(ctx_).ok());
    return *cache_;
  }
  virtual Store& store() { return lying_; }

  Revision Create(const std::string& key, const std::string& value = "v") {
    return *truth_->Create(ctx_, key, value);
  }
  Revision Update(const std::string& key, const std::string& value = "w") {
    const auto found = truth_->Get(ctx_, key);
    return truth_->Update(ctx_, key, value, found->kv->revision)->revision;
  }
  Revision Delete(const std::string& key) {
    const auto found = truth_->Get(ctx_, key);
    return truth_->Delete(ctx_, key, found->kv->revision)->revision;
  }
  static std::vector<std::string> Names(const SnapshotPtr& snapshot) {
    std::vector<std::string> names;
    snapshot->Visit(kPods, "", [&](const EntryPtr& entry) {
      names.emplace_back(entry->name());
      return true;
    });
    return names;
  }
  std::vector<std::string> ReadNames(const Freshness& freshness) {
    auto snapshot = cache_->Read(ctx_, freshness);
    EXPECT_TRUE(snapshot.ok()) << snapshot.status().ToString();
    return snapshot.ok() ? Names(*snapshot) : std::vector<std::string>();
  }
  // Blocks until the store was listed `count` times.
  void AwaitLists(uint64_t count) {
    while (cache_->stats().lists < count) std::this_thread::yield();
  }

  RealClock clock_;
  Context ctx_{clock_};
  MetricsRegistry registry_;
  WatchCacheMetrics metrics_{registry_};
  TextHeads heads_;
  IndexedHeads indexed_heads_;
  std::unique_ptr<Store> truth_ = NewMemoryStore(clock_);
  FaultyStore lying_{*truth_};
  std::unique_ptr<WatchCache> cache_;
};

// The contract of the cache with every store, here with the memory store and with a decorated one.
class WatchCacheContractTest : public WatchCacheTest,
                               public ::testing::WithParamInterface<const char*> {
 protected:
  Store& store() override {
    if (std::string_view(GetParam()) == "memory") return *truth_;
    return lying_;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, WatchCacheContractTest, ::testing::Values("memory", "truthful"),
                         [](const auto& store) { return std::string(store.param); });

TEST_P(WatchCacheContractTest, ReadsSeeAcknowledgedWrites) {
  Create("/r/pods/a/one");
  Start();
  EXPECT_THAT(Names(cache_->Current()), ElementsAre("one"));
  for (int i = 0; i < 200; ++i) {
    const std::string key = "/r/pods/b/p" + std::to_string(i);
    Create(key);
    const SnapshotPtr snapshot = *cache_->Read(ctx_, {});
    ASSERT_NE(snapshot->Find(key), nullptr) << i;
  }
  EXPECT_EQ(cache_->stats().objects, 201u);
}

TEST_P(WatchCacheContractTest, ReadsCatchUpWithWritesToOtherResources) {
  Create("/r/pods/a/one");
  Start();
  const Revision elsewhere = Create("/r/services/a/x");
  const SnapshotPtr latest = *cache_->Read(ctx_, {});
  EXPECT_GE(latest->revision(), elsewhere);
  const Revision later = Create("/r/services/a/y");
  EXPECT_GE((*cache_->Read(ctx_, {Match::kNotOlderThan, later}))->revision(), later);
}

TEST_P(WatchCacheContractTest, ReadsExactPastRevision) {
  const Revision first = Create("/r/pods/a/one");
  Start();
  const Revision second = Create("/r/pods/a/two");
  const Revision third = Delete("/r/pods/a/one");
  EXPECT_THAT(ReadNames({Match::kNotOlderThan, third}), ElementsAre("two"));
  EXPECT_THAT(ReadNames({Match::kExact, second}), ElementsAre("one", "two"));
  EXPECT_THAT(ReadNames({Match::kExact, first}), ElementsAre("one"));
  EXPECT_THAT(ReadNames({Match::kExact, third}), ElementsAre("two"));
  EXPECT_TRUE(cache_->Read(ctx_, {Match::kExact, first - 1}).status().Is(Reason::kExpired));
}

TEST_P(WatchCacheContractTest, ReadAnyReturnsCachedState) {
  Create("/r/pods/a/one");
  Start();
  EXPECT_THAT(ReadNames({Match::kAny}), ElementsAre("one"));
}

TEST_P(WatchCacheContractTest, WaitForReturnsAfterTheWriteIsCached) {
  Start();
  const Revision written = Create("/r/pods/a/one");
  ASSERT_TRUE(cache_->WaitFor(ctx_, written).ok());
  EXPECT_THAT(Names(cache_->Current()), ElementsAre("one"));
}

TEST_P(WatchCacheContractTest, WatchersSeeEveryChangeInOrder) {
  const Revision start = Create("/r/pods/a/one");
  Start();
  Gatherer all(ctx_, *cache_, kPods, start);
  Gatherer one(ctx_, *cache_, "/r/pods/b/", start);
  Create("/r/pods/b/two");
  Update("/r/pods/a/one");
  Create("/r/services/x");
  Delete("/r/pods/b/two");
  EXPECT_THAT(all.Until(3),
              ElementsAre("+/r/pods/b/two@3", "~/r/pods/a/one@4", "-/r/pods/b/two@6"));
  EXPECT_THAT(one.Until(2), ElementsAre("+/r/pods/b/two@3", "-/r/pods/b/two@6"));
}

TEST_P(WatchCacheContractTest, WatchersResumeFromARevision) {
  const Revision start = Create("/r/pods/a/one");
  Start();
  const Revision second = Create("/r/pods/a/two");
  const Revision third = Create("/r/pods/a/three");
  ASSERT_TRUE(cache_->WaitFor(ctx_, third).ok());
  EXPECT_EQ(Gatherer(ctx_, *cache_, kPods, start).Until(2).size(), 2u);
  EXPECT_EQ(Gatherer(ctx_, *cache_, kPods, second).Until(1).size(), 1u);
  const auto old = cache_->Watch(kPods, start - 1, nullptr);
  EXPECT_TRUE(old.status().Is(Reason::kExpired));
  EXPECT_EQ(old.status().message(), "too old resource version: 1 (2)");
}

TEST_P(WatchCacheContractTest, InitialListIsPaginated) {
  for (int i = 0; i < 2500; ++i) Create("/r/pods/a/p" + std::to_string(i));
  Start();
  EXPECT_EQ(cache_->Current()->size(), 2500u);
  EXPECT_EQ(cache_->Current()->Count("/r/pods/a/p1"), 1111u);
}

// Concurrent writers and readers. The changes of each watcher, applied to its initial list, must
// result in the content of the store.
TEST_P(WatchCacheContractTest, ConcurrentWritersReadersAndWatchersAgree) {
  Start();
  constexpr int kWrites = 150;
  std::atomic<int> running = 3;
  std::vector<std::thread> threads;
  for (int w = 0; w < 3; ++w) {
    threads.emplace_back([&, w] {
      std::minstd_rand random(static_cast<unsigned>(w) + 1);
      Context ctx = ctx_.Child();
      for (int i = 0; i < kWrites; ++i) {
        const std::string key =
            "/r/pods/n" + std::to_string(random() % 3) + "/p" + std::to_string(random() % 20);
        const auto found = truth_->Get(ctx, key);
        if (!found->kv) {
          static_cast<void>(truth_->Create(ctx, key, "v" + std::to_string(i)));
        } else if (random() % 3 == 0) {
          static_cast<void>(truth_->Delete(ctx, key, found->kv->revision));
        } else {
          static_cast<void>(truth_->Update(ctx, key, "u" + std::to_string(i), found->kv->revision));
        }
        const auto now = truth_->CurrentRevision(ctx);
        const auto read = cache_->Read(ctx, {});
        ASSERT_TRUE(read.ok()) << read.status().ToString();
        ASSERT_GE((*read)->revision(), *now);
      }
      --running;
    });
  }
  const auto replay = [&] {
    std::map<std::string, Revision> state;
    const SnapshotPtr start = cache_->Current();
    start->Visit(kPods, "", [&](const EntryPtr& entry) {
      state[std::string(entry->key())] = entry->revision();
      return true;
    });
    auto watcher = *cache_->Watch(kPods, start->revision(), nullptr);
    Revision last = start->revision();
    for (bool done = false; !done;) {
      done = running == 0;  // read first, so that the last round takes the remaining changes
      ASSERT_TRUE(!done || cache_->Read(ctx_, {}).ok());
      for (bool more = true; more;) {
        const auto batch = watcher->Take(10);
        ASSERT_TRUE(batch.ok());
        for (const ChangePtr& change : batch->changes) {
          ASSERT_GT(change->revision, last);
          last = change->revision;
          const std::string key(change->entry->key());
          ASSERT_EQ(state.contains(key), change->type != ChangeType::kAdded) << key;
          ASSERT_EQ(change->previous == nullptr ? 0 : change->previous->revision(), state[key]);
          if (change->type == ChangeType::kDeleted) {
            state.erase(key);
          } else {
            state[key] = change->revision;
          }
        }
        more = batch->more;
      }
    }
    const Page page = *truth_->List(ctx_, kPods, {});
    std::map<std::string, Revision> want;
    for (const KeyValue& kv : page.items) want[kv.key] = kv.revision;
    EXPECT_EQ(state, want);
  };
  std::thread watching(replay);
  for (std::thread& thread : threads) thread.join();
  watching.join();
  EXPECT_EQ(cache_->stats().lists, 1u);
}

// The tests below use a store with injected faults.

TEST_F(WatchCacheTest, ReadOfFutureRevisionTimesOut) {
  TestClock clock;
  Context ctx(clock);
  auto store = NewMemoryStore(clock);
  ASSERT_TRUE(store->Create(ctx, "/r/pods/a/one", "v").ok());
  WatchCache::Options options;
  options.prefix = kPods;
  options.head_reader = &heads_;
  auto cache = WatchCache::Create(ctx, *store, std::move(options));
  ASSERT_TRUE(cache->WaitReady(ctx).ok());
  for (const Match match : {Match::kNotOlderThan, Match::kExact}) {
    Status status;
    std::atomic<bool> done = false;
    std::thread reader([&] {
      Context own = ctx.Child();
      status = cache->Read(own, {match, 9}).status();
      done = true;
    });
    while (!done) {
      if (clock.waiters() > 0) clock.Advance(milliseconds(100));
      std::this_thread::yield();
    }
    reader.join();
    EXPECT_TRUE(IsFutureRevision(status)) << status.ToString();
    EXPECT_EQ(status.message(), "Timeout: Too large resource version: 9, current: 2");
    EXPECT_EQ(status.details().retry_after_seconds, 1);
  }
}

TEST_F(WatchCacheTest, ReadsByFieldAreAsFreshAsOtherReads) {
  Create("/r/pods/a/old", "node=one");
  WatchCache::Options options;
  options.resource = "pods";
  options.prefix = kPods;
  options.head_reader = &indexed_heads_;
  cache_ = WatchCache::Create(ctx_, store(), std::move(options));
  const auto keys = [&](const char* value) {
    std::vector<std::string> keys;
    const Result<Selection> found = cache_->ReadByField(ctx_, {Match::kLatest}, value);
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    if (!found.ok()) return keys;
    EXPECT_GE(found->revision, *truth_->CurrentRevision(ctx_));
    for (const EntryPtr& entry : found->entries) keys.emplace_back(entry->key());
    return keys;
  };
  EXPECT_THAT(keys("one"), ElementsAre("/r/pods/a/old"));
  Create("/r/pods/b/new", "node=one");
  Create("/r/pods/a/other", "node=two");
  EXPECT_THAT(keys("one"), ElementsAre("/r/pods/a/old", "/r/pods/b/new"));
  EXPECT_THAT(keys("none"), IsEmpty());
}

TEST_F(WatchCacheTest, ConsistentReadsFallBackWhenTheWatchIsSilent) {
  Create("/r/pods/a/one");
  Start();
  lying_.WithholdProgress(true);
  Create("/r/services/x");
  Context hurried = ctx_.WithTimeout(milliseconds(50));
  EXPECT_FALSE(cache_->Read(hurried, {}).ok());
  lying_.WithholdProgress(false);
  EXPECT_TRUE(cache_->Read(ctx_, {}).ok()) << "asked again";
}

TEST_F(WatchCacheTest, ConcurrentConsistentReadsShareRevisionReads) {
  Create("/r/pods/a/one");
  Start();
  // Block the first read until all other readers have arrived.
  constexpr int kReaders = 20;
  const auto arrived = std::make_shared<std::atomic<int>>(0);
  lying_.OnRevisionRead([arrived] {
    while (*arrived < kReaders) std::this_thread::yield();
  });
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      Context ctx = ctx_.Child();
      ++*arrived;
      EXPECT_TRUE(cache_->Read(ctx, {}).ok());
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_LE(lying_.revisions_read(), kReaders / 2);
}

TEST_F(WatchCacheTest, ResumesBrokenWatchFromLastRevision) {
  const Revision start = Create("/r/pods/a/one");
  Start();
  Gatherer watcher(ctx_, *cache_, kPods, start);
  lying_.Break(Status::Unavailable("gone"), 2);
  Create("/r/pods/a/two");
  Delete("/r/pods/a/one");
  EXPECT_THAT(watcher.Until(2), ElementsAre("+/r/pods/a/two@3", "-/r/pods/a/one@4"));
  EXPECT_EQ(cache_->stats().lists, 1u);
  EXPECT_GE(lying_.watches_started(), 4);
}

TEST_F(WatchCacheTest, RelistsWhenItsRevisionIsCompacted) {
  const Revision start = Create("/r/pods/a/one");
  Create("/r/pods/a/two");
  Start();
  Gatherer watcher(ctx_, *cache_, kPods, start + 1);
  lying_.Break(Status::Expired("compacted"));
  AwaitLists(2);
  Create("/r/pods/a/three");
  EXPECT_THAT(watcher.Until(1), ElementsAre("+/r/pods/a/three@4")) << "the watcher noticed nothing";
}

// Changes during an interruption of the watch that the store has compacted since.
TEST_F(WatchCacheTest, WatchersReceiveTheDifferenceAfterCompaction) {
  Create("/r/pods/a/one");
  const Revision start = Create("/r/pods/a/two");
  Start();
  Gatherer watcher(ctx_, *cache_, kPods, start);
  // Drop events while objects change; then compact the revision of the watch.
  lying_.Edit([](WatchBatch& batch) {
    batch.events.clear();
    batch.revision = 0;
  });
  Delete("/r/pods/a/one");
  Update("/r/pods/a/two");
  const Revision last = Create("/r/pods/a/three");
  lying_.Break(Status::Expired("compacted"));
  lying_.Edit(nullptr);
  EXPECT_THAT(watcher.Until(3),
              ElementsAre("-/r/pods/a/one@4", "~/r/pods/a/two@5", "+/r/pods/a/three@6"));
  EXPECT_EQ(last, 6);
}

// Known faults of etcd's watches, by the issue that describes each.
struct Lie {
  const char* name;
  // The faulty batches that the watch delivers. The store has a@2, b@3, other@4; revision 1 is the
  // empty store.
  std::vector<WatchBatch> says;
  bool relists;
};

Event PutEvent(const std::string& key, Revision revision, bool created) {
  return {Event::Type::kPut, {key, Bytes("v"), revision}, created};
}
Event DeleteEvent(const std::string& key, Revision revision) {
  return {Event::Type::kDelete, {key, {}, revision}, false};
}

class WatchCacheLiesTest : public WatchCacheTest, public ::testing::WithParamInterface<Lie> {};
INSTANTIATE_TEST_SUITE_P(
    Etcd, WatchCacheLiesTest,
    ::testing::Values(
        Lie{"Issue15220ProgressBeforeTheEvent",
            {{{}, 10}, {{PutEvent("/r/pods/c", 5, true)}, 5}},
            true},
        Lie{"Issue15271OldEventsAfterReconnect",
            {{{PutEvent("/r/pods/a", 2, true)}, 2}, {{PutEvent("/r/pods/b", 3, true)}, 3}},
            false},
        Lie{"Issue17529EventsBeforeTheStart", {{{PutEvent("/r/pods/a", 2, true)}, 4}}, false},
        Lie{"Issue18089LostDeletionThenCreation", {{{PutEvent("/r/pods/a", 5, true)}, 5}}, true},
        Lie{"Issue19179UpdateOfTheUnknown", {{{PutEvent("/r/pods/x", 5, false)}, 5}}, true},
        Lie{"Issue20221OldProgress", {{{}, 2}, {{}, 3}, {{}, 2}}, false},
        Lie{"RepeatedProgress", {{{}, 4}, {{}, 4}, {{}, 4}}, false},
        Lie{"DeletionOfTheUnknown", {{{DeleteEvent("/r/pods/x", 5)}, 5}}, true}),
    [](const auto& lie) { return std::string(lie.param.name); });

TEST_P(WatchCacheLiesTest, CacheStaysConsistent) {
  Create("/r/pods/a");
  Create("/r/pods/b");
  Create("/r/other/x");
  Start();
  for (const WatchBatch& batch : GetParam().says) lying_.Say(batch);
  if (GetParam().relists) AwaitLists(2);
  // The cache has the content of the store, and new watchers see later changes.
  Create("/r/pods/last");
  Result<SnapshotPtr> now = cache_->Read(ctx_, {});
  while (!now.ok()) now = cache_->Read(ctx_, {});
  EXPECT_THAT(Names(*now), ElementsAre("a", "b", "last"));
  for (const EntryPtr& entry : {(*now)->Find("/r/pods/a"), (*now)->Find("/r/pods/b")}) {
    EXPECT_EQ(entry->revision(), entry->name() == "a" ? 2 : 3);
  }
  EXPECT_EQ(cache_->stats().lists, GetParam().relists ? 2u : 1u);
}

TEST_F(WatchCacheTest, ConsistencyCheckFindsSkippedDeletion) {
  TestClock clock;
  Context ctx(clock);
  auto truth = NewMemoryStore(clock);
  FaultyStore lying(*truth);
  ASSERT_TRUE(truth->Create(ctx, "/r/pods/a", "v").ok());
  ASSERT_TRUE(truth->Create(ctx, "/r/pods/b", "v").ok());
  WatchCache::Options options;
  options.resource = "pods";
  options.prefix = kPods;
  options.head_reader = &heads_;
  options.metrics = &metrics_;
  auto cache = WatchCache::Create(ctx, lying, std::move(options));
  ASSERT_TRUE(cache->WaitReady(ctx).ok());
  Gatherer watcher(ctx_, *cache, kPods, 3);
  lying.Edit([](WatchBatch& batch) { batch.events.clear(); });
  ASSERT_TRUE(truth->Delete(ctx, "/r/pods/a", 2).ok());
  ASSERT_TRUE(cache->WaitFor(ctx, 4).ok());
  EXPECT_EQ(cache->Current()->size(), 2u) << "it cannot know";
  lying.Edit(nullptr);
  clock.Advance(minutes(5));
  while (cache->stats().lists < 2) {
    // The list follows after a backoff.
    if (clock.waiters() > 0) clock.Advance(milliseconds(100));
    std::this_thread::yield();
  }
  EXPECT_EQ(cache->Current()->size(), 1u);
  EXPECT_THAT(registry_.Render(),
              HasSubstr("apiserver_storage_consistency_checks_total{group=\"\",resource=\"pods\","
                        "status=\"failure\"} 1"));
}

TEST_F(WatchCacheTest, EventsFromTheStoreAreCounted) {
  Create("/r/pods/a");  // listed, not received
  Start();
  Create("/r/pods/b");
  const Revision last = Delete("/r/pods/b");
  ASSERT_TRUE(cache_->WaitFor(ctx_, last).ok());
  const std::string labels = "{group=\"\",resource=\"pods\"} 2\n";
  // The metrics follow the state.
  while (registry_.Render().find("apiserver_storage_events_received_total" + labels) ==
         std::string::npos) {
    ASSERT_FALSE(ctx_.Done());
    std::this_thread::yield();
  }
  EXPECT_THAT(registry_.Render(),
              HasSubstr("apiserver_watch_cache_events_received_total" + labels));
}

TEST_F(WatchCacheTest, RelistsWhenTheStoreRevisionDecreases) {
  Create("/r/pods/a");
  const Revision start = Create("/r/pods/b");
  Start();
  Gatherer watcher(ctx_, *cache_, kPods, start);
  lying_.SetCurrentRevision(1);
  EXPECT_TRUE(cache_->Read(ctx_, {}).status().Is(Reason::kServiceUnavailable));
  lying_.SetCurrentRevision(std::nullopt);
  AwaitLists(2);
  EXPECT_THAT(ReadNames({}), ElementsAre("a", "b"));
}

// A client can request any revision.
TEST_F(WatchCacheTest, ReadOfFutureRevisionDoesNotKeepRequestingProgress) {
  Create("/r/pods/a");
  Start();
  for (const Match match : {Match::kNotOlderThan, Match::kExact}) {
    Context brief = ctx_.WithTimeout(milliseconds(300));
    EXPECT_FALSE(cache_->Read(brief, {match, 1'000'000}).ok());
  }
  const int before = lying_.progress_requests();
  EXPECT_LT(before, 50);
  const Revision last = Create("/r/pods/b");
  EXPECT_TRUE(cache_->WaitFor(ctx_, last).ok());
  EXPECT_LT(lying_.progress_requests() - before, 5);
}

TEST_F(WatchCacheTest, RevisionThatTheStoreLostIsNotRequired) {
  Create("/r/pods/a");
  Start();
  lying_.SetCurrentRevision(1'000'000);
  Context brief = ctx_.WithTimeout(milliseconds(50));
  EXPECT_FALSE(cache_->Read(brief, {}).ok());
  lying_.SetCurrentRevision(std::nullopt);
  lying_.Break(Status::Expired("compacted"));
  AwaitLists(2);
  const int before = lying_.progress_requests();
  const Revision last = Create("/r/pods/b");
  EXPECT_TRUE(cache_->WaitFor(ctx_, last).ok());
  EXPECT_LT(lying_.progress_requests() - before, 5);
}

TEST_F(WatchCacheTest, WatchersBehindTheOldestChangeExpire) {
  const Revision start = Create("/r/pods/a/x");
  WatchCache::Options options;
  options.prefix = kPods;
  options.capacity = options.max_capacity = 4;
  options.head_reader = &heads_;
  cache_ = WatchCache::Create(ctx_, lying_, std::move(options));
  ASSERT_TRUE(cache_->WaitReady(ctx_).ok());
  Gatherer slow(ctx_, *cache_, kPods, start);
  Revision last = 0;
  for (int i = 0; i < 10; ++i) last = Update("/r/pods/a/x", std::to_string(i));
  ASSERT_TRUE(cache_->WaitFor(ctx_, last).ok());
  EXPECT_TRUE(slow.UntilEnd().Is(Reason::kExpired));
}

TEST_F(WatchCacheTest, WatchersTakeRemainingChangesAfterEnd) {
  const Revision start = Create("/r/pods/a/one");
  Start();
  std::atomic<int> wakes = 0;
  const auto idle = *cache_->Watch("/r/pods/b/", start, [&wakes] { ++wakes; });
  ASSERT_FALSE(idle->Take(10)->ended);
  const auto behind = *cache_->Watch(kPods, start, nullptr);
  ASSERT_TRUE(cache_->WaitFor(ctx_, Create("/r/pods/a/two")).ok());
  ASSERT_TRUE(cache_->WaitFor(ctx_, Create("/r/pods/a/three")).ok());
  cache_->End();
  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(idle->Take(10)->ended);
  const Watcher::Batch first = *behind->Take(1);
  EXPECT_EQ(first.changes.size(), 1u);
  EXPECT_FALSE(first.ended);
  const Watcher::Batch second = *behind->Take(1);
  EXPECT_EQ(second.changes.size(), 1u);
  EXPECT_TRUE(second.ended);
  const auto late = *cache_->Watch(kPods, cache_->Current()->revision(), nullptr);
  EXPECT_TRUE(late->Take(1)->ended);
}

TEST_F(WatchCacheTest, ReadsDoNotWaitAfterEnd) {
  Create("/r/pods/a/one");
  Start();
  // With this clock, a read that waits would never return.
  TestClock frozen;
  Context patient{frozen};
  std::thread reader([&] { EXPECT_FALSE(cache_->WaitFor(patient, 1'000).ok()); });
  cache_->End();
  reader.join();
  Create("/r/pods/a/two");
  EXPECT_TRUE(cache_->Read(patient, {}).status().Is(Reason::kServiceUnavailable));
  EXPECT_THAT(ReadNames({Freshness::Match::kAny, 0}), ElementsAre("one"));
}

TEST_F(WatchCacheTest, SnapshotsAndWatchersOutliveTheCache) {
  Create("/r/pods/a/x", "app=web");
  Start();
  const SnapshotPtr snapshot = cache_->Current();
  auto watcher = *cache_->Watch(kPods, snapshot->revision(), nullptr);
  cache_ = nullptr;
  EXPECT_EQ(snapshot->Find("/r/pods/a/x")->labels()("app"), "web");
  EXPECT_TRUE(watcher->Take(1).ok());
}

TEST_F(WatchCacheTest, UpdatesMetrics) {
  Create("/r/pods/a/x");
  Start();
  Create("/r/pods/a/y");
  ASSERT_TRUE(cache_->Read(ctx_, {}).ok());
  const std::string text = registry_.Render();
  for (const char* line : {
           "apiserver_watch_cache_initializations_total{group=\"\",resource=\"pods\"} 1",
           "apiserver_init_events_total{group=\"\",resource=\"pods\"} 1",
           "watch_cache_capacity{group=\"\",resource=\"pods\"} 100",
           "apiserver_watch_cache_consistent_read_total{fallback=\"false\",group=\"\",resource="
           "\"pods\",success=\"true\"} 1",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace cox::storage
