// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/change_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/test_clock.h"
#include "storage/testing/test_support.h"

namespace cox::storage {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kRoot[] = "/r/pods/";

class ChangeLogTest : public ::testing::Test {
 protected:
  void Add(const std::string& key, Revision revision) { Add(*log_, key, revision); }
  static void Add(ChangeLog& log, const std::string& key, Revision revision) {
    const EntryPtr entry = TestEntry(key, "v", revision, kClass);
    const ChangePtr change =
        std::make_shared<const Change>(Change{ChangeType::kAdded, entry, nullptr, revision});
    log.Append({&change, 1}, revision).Run();
  }
  void Progress(Revision revision) { log_->Append({}, revision).Run(); }

  std::unique_ptr<Watcher> Watch(std::string prefix, Revision after, int* wakes = nullptr) {
    WatchOptions options;
    options.prefix = std::move(prefix);
    options.after = after;
    return Watch(std::move(options), wakes);
  }
  std::unique_ptr<Watcher> Watch(WatchOptions options, int* wakes = nullptr) {
    if (wakes != nullptr) options.wake = [wakes] { ++*wakes; };
    auto watcher = log_->Watch(std::move(options));
    EXPECT_TRUE(watcher.ok()) << watcher.status().ToString();
    return std::move(*watcher);
  }
  static std::vector<std::string> Texts(Watcher& watcher, size_t max = 1000) {
    const auto batch = watcher.Take(max);
    EXPECT_TRUE(batch.ok()) << batch.status().ToString();
    return ToText(batch->changes);
  }

  inline static const EntryClassPtr kClass = TestClass();
  TestClock clock_;
  std::shared_ptr<ChangeLog> log_ = std::make_shared<ChangeLog>(clock_, kRoot, 8, 32);
};

TEST_F(ChangeLogTest, WatchersReceiveChangesOfMatchingKeys) {
  struct Case {
    const char* what;
    WatchOptions options;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {"everything", {kRoot}, {"+/r/pods/a/x@1", "+/r/pods/a/x-1@2", "+/r/pods/ab/x@3"}},
      {"a namespace", {"/r/pods/a/"}, {"+/r/pods/a/x@1", "+/r/pods/a/x-1@2"}},
      {"one key", {"/r/pods/a/x", true}, {"+/r/pods/a/x@1"}},
      {"any prefix", {"/r/pods/a"}, {"+/r/pods/a/x@1", "+/r/pods/a/x-1@2", "+/r/pods/ab/x@3"}},
      {"a later part", {kRoot, false, 2}, {"+/r/pods/ab/x@3"}},
      {"another namespace", {"/r/pods/c/"}, {}},
  };
  const std::pair<const char*, Revision> changes[] = {
      {"/r/pods/a/x", 1}, {"/r/pods/a/x-1", 2}, {"/r/pods/ab/x", 3}};

  // Live: the watcher is woken for each change and takes it.
  std::vector<std::unique_ptr<Watcher>> live;
  std::vector<int> wakes(std::size(cases));
  for (size_t i = 0; i < std::size(cases); ++i) {
    live.push_back(Watch(cases[i].options, &wakes[i]));
    EXPECT_THAT(Texts(*live.back()), IsEmpty());
  }
  std::vector<std::vector<std::string>> got(std::size(cases));
  for (const auto& [key, revision] : changes) {
    Add(key, revision);
    for (size_t i = 0; i < std::size(cases); ++i) {
      if (wakes[i] == 0) continue;
      EXPECT_EQ(std::exchange(wakes[i], 0), 1);
      for (std::string& text : Texts(*live[i])) got[i].push_back(std::move(text));
    }
  }
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(cases[i].what);
    EXPECT_EQ(got[i], cases[i].want);
    // Afterwards, from the log.
    EXPECT_EQ(Texts(*Watch(cases[i].options)), cases[i].want);
  }
}

TEST_F(ChangeLogTest, WatchersOfAFieldValueReceiveOnlyItsChanges) {
  const auto add = [&](const char* key, const EntryPtr& previous, const std::string& value,
                       Revision revision) {
    EntryPtr entry = IndexedEntry(key, value, revision);
    const ChangePtr change = std::make_shared<const Change>(
        Change{previous == nullptr ? ChangeType::kAdded : ChangeType::kModified, entry, previous,
               revision});
    log_->Append({&change, 1}, revision).Run();
    return entry;
  };
  const auto watch = [&](const char* prefix, const char* value, int* wakes) {
    WatchOptions options{prefix};
    options.field_value = value;
    return Watch(std::move(options), wakes);
  };
  int one_wakes = 0, two_wakes = 0, other_wakes = 0;
  const auto one = watch(kRoot, "one", &one_wakes);
  const auto two = watch(kRoot, "two", &two_wakes);
  const auto other_namespace = watch("/r/pods/b/", "one", &other_wakes);
  for (Watcher* watcher : {one.get(), two.get(), other_namespace.get()}) {
    EXPECT_THAT(Texts(*watcher), IsEmpty());
  }

  EntryPtr pod = add("/r/pods/a/x", nullptr, "", 1);
  EXPECT_EQ(one_wakes + two_wakes + other_wakes, 0) << "the object has no value";
  pod = add("/r/pods/a/x", pod, "node=one", 2);
  EXPECT_EQ(one_wakes, 1);
  EXPECT_THAT(Texts(*one), ElementsAre("~/r/pods/a/x@2"));
  // A change of the value concerns the watchers of both values.
  pod = add("/r/pods/a/x", pod, "node=two", 3);
  EXPECT_EQ(one_wakes, 2);
  EXPECT_EQ(two_wakes, 1);
  EXPECT_THAT(Texts(*one), ElementsAre("~/r/pods/a/x@3"));
  EXPECT_THAT(Texts(*two), ElementsAre("~/r/pods/a/x@3"));
  pod = add("/r/pods/a/x", pod, "x=y,node=two", 4);
  EXPECT_EQ(one_wakes, 2);
  EXPECT_THAT(Texts(*two), ElementsAre("~/r/pods/a/x@4"));
  EXPECT_EQ(other_wakes, 0);
  // A watcher that is behind selects the same changes from the log.
  int unused = 0;
  EXPECT_THAT(Texts(*watch(kRoot, "one", &unused)),
              ElementsAre("~/r/pods/a/x@2", "~/r/pods/a/x@3"));
  EXPECT_THAT(Texts(*watch("/r/pods/b/", "one", &unused)), IsEmpty());
}

TEST_F(ChangeLogTest, WakesOncePerTake) {
  int wakes = 0;
  auto watcher = Watch(kRoot, 0, &wakes);
  Add("/r/pods/a/1", 1);
  EXPECT_EQ(wakes, 0) << "not before the first Take";
  EXPECT_THAT(Texts(*watcher), ElementsAre("+/r/pods/a/1@1"));
  Add("/r/pods/a/2", 2);
  Add("/r/pods/a/3", 3);
  EXPECT_EQ(wakes, 1);
  EXPECT_THAT(Texts(*watcher, 1), ElementsAre("+/r/pods/a/2@2"));
  Add("/r/pods/a/4", 4);
  EXPECT_EQ(wakes, 1) << "there was more, and the reader knows";
  EXPECT_THAT(Texts(*watcher), ElementsAre("+/r/pods/a/3@3", "+/r/pods/a/4@4"));
  Add("/r/pods/a/5", 5);
  EXPECT_EQ(wakes, 2);
}

TEST_F(ChangeLogTest, BatchRevisionIsTheLastCompleteRevision) {
  auto watcher = Watch("/r/pods/a/", 0);
  Add("/r/pods/a/1", 1);
  Add("/r/pods/a/2", 5);
  Add("/r/pods/a/3", 5);
  Add("/r/pods/b/4", 7);
  Progress(9);
  EXPECT_EQ(watcher->Take(1)->revision, 4);
  auto half = watcher->Take(1);
  EXPECT_EQ(half->revision, 4) << "one more change of revision 5 is to come";
  EXPECT_TRUE(half->more);
  auto rest = watcher->Take(10);
  EXPECT_EQ(rest->revision, 9);
  EXPECT_FALSE(rest->more);
}

TEST_F(ChangeLogTest, ProgressWakesOnlyWatchersWithWakeOften) {
  int quiet = 0;
  int often = 0;
  auto a = Watch(kRoot, 0, &quiet);
  WatchOptions options{kRoot};
  options.wake_often = true;
  auto b = Watch(std::move(options), &often);
  ASSERT_TRUE(a->Take(1).ok());
  ASSERT_TRUE(b->Take(1).ok());
  Progress(5);
  Progress(5);
  EXPECT_EQ(quiet, 0);
  EXPECT_EQ(often, 1);
  EXPECT_EQ(b->Take(1)->revision, 5);
  EXPECT_EQ(a->Take(1)->revision, 5) << "it is told when it asks";
}

TEST_F(ChangeLogTest, WatcherFromFutureRevisionWaits) {
  int wakes = 0;
  auto watcher = Watch(kRoot, 10, &wakes);
  EXPECT_EQ(watcher->Take(1)->revision, 10);
  Add("/r/pods/a/1", 9);
  Add("/r/pods/a/2", 10);
  EXPECT_EQ(wakes, 0);
  Add("/r/pods/a/3", 11);
  EXPECT_EQ(wakes, 1);
  EXPECT_THAT(Texts(*watcher), ElementsAre("+/r/pods/a/3@11"));
}

TEST_F(ChangeLogTest, SlowWatcherExpiresWithoutEffectOnOthers) {
  int wakes = 0;
  auto slow = Watch(kRoot, 0, &wakes);
  auto quick = Watch(kRoot, 0);
  auto elsewhere = Watch("/r/pods/other/", 0);
  ASSERT_TRUE(slow->Take(1).ok());
  ASSERT_TRUE(elsewhere->Take(1).ok());
  for (Revision r = 1; r <= 100; ++r) {
    clock_.Advance(seconds(80));  // so that the ring does not grow
    Add("/r/pods/a/x", r);
    ASSERT_EQ(Texts(*quick).size(), 1u);
  }
  EXPECT_EQ(wakes, 1);
  const auto batch = slow->Take(1);
  EXPECT_TRUE(batch.status().Is(Reason::kExpired));
  EXPECT_EQ(batch.status().message(), "too old resource version: 0 (92)");
  EXPECT_TRUE(slow->Take(1).status().Is(Reason::kExpired)) << "and stays so";
  EXPECT_EQ(log_->expired(), 1u);
  EXPECT_EQ(elsewhere->Take(1)->revision, 100) << "has missed nothing of its own";
}

TEST_F(ChangeLogTest, RejectsWatchersBeforeTheOldestRevision) {
  log_->Restart(50).Run();
  WatchOptions options{kRoot};
  options.after = 49;
  const auto refused = log_->Watch(options);
  EXPECT_TRUE(refused.status().Is(Reason::kExpired));
  EXPECT_EQ(refused.status().message(), "too old resource version: 49 (50)");
  options.after = 50;
  EXPECT_TRUE(log_->Watch(options).ok());
}

TEST_F(ChangeLogTest, GrowsWhileBusyAndShrinksWhenQuiet) {
  EXPECT_EQ(log_->capacity(), 8u);
  for (Revision r = 1; r <= 9; ++r) Add("/r/pods/a/x", r);
  EXPECT_EQ(log_->capacity(), 16u) << "nine within the window";
  for (Revision r = 10; r <= 200; ++r) Add("/r/pods/a/x", r);
  EXPECT_EQ(log_->capacity(), 32u) << "no more than the maximum";
  EXPECT_EQ(log_->oldest(), 168);
  for (Revision r = 201; r <= 260; ++r) {
    clock_.Advance(seconds(30));
    Add("/r/pods/a/x", r);
  }
  EXPECT_EQ(log_->capacity(), 8u);
  EXPECT_EQ(log_->Since(252)->size(), 8u);
  EXPECT_FALSE(log_->Since(251).has_value());
}

TEST_F(ChangeLogTest, ShrinksWhenNoMoreChangesArrive) {
  for (Revision r = 1; r <= 30; ++r) Add("/r/pods/a/x", r);
  EXPECT_EQ(log_->capacity(), 32u);
  EXPECT_TRUE(log_->Since(0).has_value());
  // The newest changes stay, so that clients of a quiet resource can resume after any time.
  for (int i = 0; i < 4; ++i) clock_.Advance(ChangeLog::kWindow);
  EXPECT_EQ(log_->capacity(), 8u);
  EXPECT_EQ(log_->oldest(), 22);
  EXPECT_EQ(log_->Since(22)->size(), 8u);
  EXPECT_EQ(clock_.timers(), 0u) << "nothing is left to do";
}

TEST_F(ChangeLogTest, DropsOldChangesWhileOthersArrive) {
  log_ = std::make_shared<ChangeLog>(clock_, kRoot, 8, 1024);
  for (Revision r = 1; r <= 500; ++r) Add("/r/pods/a/x", r);
  for (Revision r = 501; r <= 600; ++r) {
    clock_.Advance(seconds(1));
    Add("/r/pods/a/x", r);
  }
  // A second has one change, and the last of the 500 was dropped less than kTrimEvery too late.
  EXPECT_GE(log_->oldest(), 600 - 75 - 10);
  EXPECT_LE(log_->oldest(), 600 - 75);
  EXPECT_EQ(log_->capacity(), 128u);
}

TEST_F(ChangeLogTest, EarlierStatesAreLimitedInBytes) {
  log_ = std::make_shared<ChangeLog>(clock_, kRoot, 8, 1024, /*max_bytes=*/10'000);
  EntryPtr previous;
  for (Revision r = 1; r <= 100; ++r) {
    EntryPtr entry = TestEntry("/r/pods/a/x", std::string(1'000, 'x'), r, kClass);
    const ChangePtr change = std::make_shared<const Change>(
        Change{ChangeType::kModified, entry, std::exchange(previous, entry), r});
    log_->Append({&change, 1}, r).Run();
    EXPECT_LE(log_->bytes(), 10'000u);
  }
  EXPECT_EQ(log_->oldest(), 90);
  EXPECT_EQ(log_->Since(90)->size(), 10u);
}

TEST_F(ChangeLogTest, RestartExpiresAllWatchers) {
  int wakes = 0;
  auto waiting = Watch(kRoot, 0, &wakes);
  auto reading = Watch(kRoot, 0);
  ASSERT_TRUE(waiting->Take(1).ok());
  log_->Restart(100).Run();
  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(waiting->Take(1).status().Is(Reason::kExpired));
  EXPECT_TRUE(reading->Take(1).status().Is(Reason::kExpired));
  EXPECT_TRUE(Watch(kRoot, 100)->Take(1).ok());
}

TEST_F(ChangeLogTest, BarRejectsNewWatchersBeforeTheRevision) {
  auto watcher = Watch(kRoot, 0);
  Add("/r/pods/a/x", 1);
  Add("/r/pods/a/x", 9);
  log_->RejectBefore(9);
  WatchOptions options{kRoot};
  options.after = 5;
  EXPECT_TRUE(log_->Watch(options).status().Is(Reason::kExpired));
  EXPECT_EQ(Texts(*watcher).size(), 2u);
}

TEST_F(ChangeLogTest, FindsChangesByKeyAndRevision) {
  Add("/r/pods/a/x", 5);
  Add("/r/pods/a/y", 5);
  Add("/r/pods/a/x", 8);
  EXPECT_TRUE(log_->Has("/r/pods/a/y", 5));
  EXPECT_TRUE(log_->Has("/r/pods/a/x", 8));
  EXPECT_FALSE(log_->Has("/r/pods/a/y", 8));
  EXPECT_FALSE(log_->Has("/r/pods/a/x", 6));
}

TEST_F(ChangeLogTest, WatchersCanBeDestroyedAtAnyTime) {
  std::unique_ptr<Watcher> self;
  WatchOptions options{kRoot};
  options.wake = [&self] { self = nullptr; };
  self = Watch(std::move(options));
  auto a = Watch("/r/pods/a/", 0);
  auto b = Watch("/r/pods/a/", 0);
  for (Watcher* watcher : {self.get(), a.get(), b.get()}) ASSERT_TRUE(watcher->Take(1).ok());
  a = nullptr;
  Add("/r/pods/a/x", 1);
  EXPECT_EQ(self, nullptr);
  EXPECT_EQ(Texts(*b).size(), 1u);
  EXPECT_EQ(log_->watchers(), 1u);
  log_ = nullptr;
  EXPECT_THAT(Texts(*b), IsEmpty()) << "it may outlive its cache";
}

TEST_F(ChangeLogTest, LongScansAreSplitIntoBatches) {
  auto log = std::make_shared<ChangeLog>(clock_, kRoot, 20'000, 20'000);
  WatchOptions options{"/r/pods/rare/"};
  auto watcher = *log->Watch(std::move(options));
  for (Revision r = 1; r <= 10'000; ++r) Add(*log, "/r/pods/a/x", r);
  Add(*log, "/r/pods/rare/x", 10'001);
  size_t steps = 0;
  std::vector<ChangePtr> changes;
  for (bool more = true; more; ++steps) {
    auto batch = watcher->Take(10);
    ASSERT_TRUE(batch.ok());
    more = batch->more;
    changes.insert(changes.end(), batch->changes.begin(), batch->changes.end());
  }
  EXPECT_THAT(ToText(changes), ElementsAre("+/r/pods/rare/x@10001"));
  EXPECT_GT(steps, 2u);
}

// Readers take changes only when woken: a lost wake-up makes this test hang.
TEST_F(ChangeLogTest, ConcurrentReadersLoseNoWakeup) {
  constexpr Revision kLast = 3000;
  auto log = std::make_shared<ChangeLog>(clock_, kRoot, 8192, 8192);
  const auto read = [&](int index) {
    Mutex mu;
    CondVar changed;
    bool woken = true;
    WatchOptions options{index % 2 == 0 ? kRoot : "/r/pods/a/"};
    options.wake = [&] {
      MutexLock lock(mu);
      woken = true;
      changed.NotifyOne();
    };
    auto watcher = *log->Watch(std::move(options));
    Revision seen = 0;
    while (seen < kLast) {
      {
        MutexLock lock(mu);
        changed.Wait(mu, [&] { return woken; });
        woken = false;
      }
      for (bool more = true; more;) {
        const auto batch = watcher->Take(7);
        ASSERT_TRUE(batch.ok());
        for (const ChangePtr& change : batch->changes) {
          ASSERT_GT(change->revision, seen);
          ASSERT_TRUE(index % 2 == 1 || change->revision == seen + 1);
          seen = change->revision;
        }
        more = batch->more;
      }
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) readers.emplace_back(read, i);
  for (Revision r = 1; r <= kLast; ++r) Add(*log, r % 3 == 0 ? "/r/pods/a/x" : "/r/pods/b/x", r);
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace cox::storage
