// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/memory_store.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "storage/testing/contract_test.h"

namespace cox::storage {
namespace {

class MemoryBackend final : public StoreBackend {
 public:
  Store& store() override { return *store_; }
  void Pass(std::chrono::seconds time) override { clock_.Advance(time); }

 private:
  TestClock clock_;
  const std::unique_ptr<Store> store_ = NewMemoryStore(clock_);
};

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
                         testing::Values(StoreCase{
                             "Memory", []() { return std::make_unique<MemoryBackend>(); }}),
                         CaseName);

class MemoryStoreTest : public testing::Test {
 protected:
  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(seconds(30));
};

TEST_F(MemoryStoreTest, FirstRevisionIsThatOfAnEmptyEtcd) {
  const auto store = NewMemoryStore(clock_);
  EXPECT_EQ(*store->CurrentRevision(ctx_), 1);
  EXPECT_EQ(*store->Create(ctx_, "/a", "x"), 2);
}

TEST_F(MemoryStoreTest, CompactsOldestHistoryAboveMaxChanges) {
  const auto store = NewMemoryStore(clock_, {.max_history_changes = 10});
  Revision last = *store->Create(ctx_, "/a", "0");
  const Revision first = last;
  for (int i = 0; i < 100; ++i) last = store->Update(ctx_, "/a", "x", last)->revision;
  ListOptions options;
  options.at = first;
  EXPECT_TRUE(store->List(ctx_, "/", options).status().Is(Reason::kExpired));
  options.at = last - 2;
  EXPECT_EQ(store->List(ctx_, "/", options)->items.front().revision, last - 2);
}

TEST_F(MemoryStoreTest, CompactsOldestHistoryAboveMaxBytes) {
  const auto store = NewMemoryStore(clock_, {.max_history_bytes = 10'000});
  Revision last = *store->Create(ctx_, "/a", "0");
  const std::string value(1000, 'x');
  for (int i = 0; i < 50; ++i) last = store->Update(ctx_, "/a", value, last)->revision;
  ListOptions options;
  options.at = last - 20;
  EXPECT_TRUE(store->List(ctx_, "/", options).status().Is(Reason::kExpired));
  options.at = last - 2;
  EXPECT_TRUE(store->List(ctx_, "/", options).ok());
}

TEST_F(MemoryStoreTest, WatchSurvivesCompactionOfOtherPrefixes) {
  const auto store = NewMemoryStore(clock_, {.max_history_changes = 10});
  auto watch = *store->StartWatch(ctx_, "/quiet/", *store->CurrentRevision(ctx_));
  ASSERT_TRUE(watch->RequestProgress().ok());
  ASSERT_TRUE(watch->Next(ctx_).ok());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(store->Create(ctx_, "/busy/" + std::to_string(i), "x").ok());
  }
  ASSERT_TRUE(store->Create(ctx_, "/quiet/a", "x").ok());
  const auto batch = watch->Next(ctx_);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_EQ(batch->events.size(), 1U);
}

TEST_F(MemoryStoreTest, SlowWatchIsExpired) {
  const auto store = NewMemoryStore(clock_, {.max_history_changes = 10});
  auto watch = *store->StartWatch(ctx_, "/a/", *store->CurrentRevision(ctx_));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(store->Create(ctx_, "/a/" + std::to_string(i), "x").ok());
  }
  EXPECT_TRUE(watch->Next(ctx_).status().Is(Reason::kExpired));
}

TEST_F(MemoryStoreTest, WatchIsUnavailableAfterStoreIsDestroyed) {
  auto store = NewMemoryStore(clock_);
  auto watch = *store->StartWatch(ctx_, "/a/", *store->CurrentRevision(ctx_));
  std::thread closer([&store]() { store = nullptr; });
  EXPECT_TRUE(watch->Next(ctx_).status().Is(Reason::kServiceUnavailable));
  closer.join();
  EXPECT_TRUE(watch->RequestProgress().Is(Reason::kServiceUnavailable));
}

TEST_F(MemoryStoreTest, DeletedKeysLeaveNothingBehindAfterCompaction) {
  const auto store = NewMemoryStore(clock_);
  Revision last = 0;
  for (int i = 0; i < 10; ++i) {
    last = *store->Create(ctx_, "/a", "x");
    last = store->Delete(ctx_, "/a", last)->revision;
  }
  ASSERT_TRUE(store->Compact(ctx_, last).ok());
  const Revision again = *store->Create(ctx_, "/a", "y");
  ASSERT_TRUE(store->Compact(ctx_, again).ok());
  EXPECT_EQ(store->List(ctx_, "/", {})->count, 1);
  auto watch = *store->StartWatch(ctx_, "/", again - 1);
  const auto batch = watch->Next(ctx_);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  ASSERT_EQ(batch->events.size(), 1U);
  EXPECT_TRUE(batch->events[0].created);
}

}  // namespace
}  // namespace cox::storage
