// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/store.h"
#include "storage/testing/contract_fixture.h"

// The part of the contract about reads and writes. See contract_test.h.
namespace cox::storage {

TEST_P(StoreContract, CreatedKeyIsRead) {
  const Revision revision = Create("a", "one");
  const auto got = store().Get(ctx_, Key("a"));
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ASSERT_TRUE(got->kv.has_value());
  EXPECT_EQ(got->kv->key, Key("a"));
  EXPECT_EQ(got->kv->value.view(), "one");
  EXPECT_EQ(got->kv->revision, revision);
  EXPECT_GE(got->revision, revision);
}

TEST_P(StoreContract, MissingKeyIsNoErrorAndReturnsTheRevision) {
  const Revision revision = Create("a", "one");
  const auto got = store().Get(ctx_, Key("b"));
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_FALSE(got->kv.has_value());
  EXPECT_GE(got->revision, revision);
}

TEST_P(StoreContract, ValuesAreBinarySafe) {
  std::string value("k8s\0", 4);
  for (int c = 0; c < 256; ++c) value += static_cast<char>(c);
  Create("binary", value);
  Create("empty", "");
  const Page page = List({});
  ASSERT_EQ(page.items.size(), 2U);
  EXPECT_EQ(page.items[0].value.view(), value);
  EXPECT_TRUE(page.items[1].value.empty());
}

TEST_P(StoreContract, SecondCreateIsAlreadyExistsAndChangesNothing) {
  Create("a", "one");
  const auto again = store().Create(ctx_, Key("a"), "two");
  EXPECT_TRUE(again.status().Is(Reason::kAlreadyExists)) << again.status().ToString();
  EXPECT_THAT(Describe(List({})), ElementsAre("a=one"));
}

TEST_P(StoreContract, UpdateRequiresTheCurrentRevision) {
  const Revision created = Create("a", "one");
  const Revision updated = Update("a", "two", created);
  EXPECT_GT(updated, created);

  const auto stale = store().Update(ctx_, Key("a"), "three", created);
  ASSERT_TRUE(stale.ok()) << stale.status().ToString();
  EXPECT_FALSE(stale->written);
  ASSERT_TRUE(stale->current.has_value());
  EXPECT_EQ(stale->current->value.view(), "two");
  EXPECT_EQ(stale->current->revision, updated);
  EXPECT_EQ(stale->current->key, Key("a"));
}

TEST_P(StoreContract, UpdateOfAMissingKeyWritesNothing) {
  const Revision created = Create("a", "one");
  const auto missing = store().Update(ctx_, Key("b"), "x", created);
  ASSERT_TRUE(missing.ok()) << missing.status().ToString();
  EXPECT_FALSE(missing->written);
  EXPECT_FALSE(missing->current.has_value());
  EXPECT_THAT(Describe(List({})), ElementsAre("a=one"));
}

TEST_P(StoreContract, UpdateWithExpectedRevisionZeroCreates) {
  Update("a", "one", 0);
  const auto again = store().Update(ctx_, Key("a"), "two", 0);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->written);
  EXPECT_THAT(Describe(List({})), ElementsAre("a=one"));
}

TEST_P(StoreContract, DeleteRequiresTheCurrentRevision) {
  const Revision created = Create("a", "one");
  const Revision updated = Update("a", "two", created);

  const auto stale = store().Delete(ctx_, Key("a"), created);
  ASSERT_TRUE(stale.ok()) << stale.status().ToString();
  EXPECT_FALSE(stale->written);
  ASSERT_TRUE(stale->current.has_value());
  EXPECT_EQ(stale->current->revision, updated);

  const Revision deleted = Delete("a", updated);
  EXPECT_GT(deleted, updated);
  EXPECT_THAT(List({}).items, IsEmpty());
  const auto gone = store().Delete(ctx_, Key("a"), updated);
  ASSERT_TRUE(gone.ok());
  EXPECT_FALSE(gone->written);
  EXPECT_FALSE(gone->current.has_value());
}

TEST_P(StoreContract, DeleteWithExpectedRevisionZeroWritesNothing) {
  const auto result = store().Delete(ctx_, Key("a"), 0);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_FALSE(result->written);
}

TEST_P(StoreContract, GuardedWriteRequiresBothRevisions) {
  EXPECT_TRUE(CanGuard(store(), store()));
  const std::string key = Key("a");
  const Guard before{Key("guard"), Create("guard", "one")};
  const Guard guard{before.key, Update("guard", "two", before.revision)};

  // Create a new key.
  auto result = store().WriteGuarded(ctx_, {.key = key, .value = "one"}, before);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_FALSE(result->written);
  EXPECT_FALSE(result->current.has_value());
  result = store().WriteGuarded(ctx_, {.key = key, .value = "one"}, guard);
  ASSERT_TRUE(result.ok() && result->written);
  const Revision created = result->revision;
  result = store().WriteGuarded(ctx_, {.key = key, .value = "two"}, guard);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->written) << "it exists";

  // Update an existing key.
  result = store().WriteGuarded(ctx_, {.key = key, .value = "two", .expected = created}, before);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->written);
  ASSERT_TRUE(result->current.has_value());
  EXPECT_EQ(result->current->revision, created) << "as expected: it was the guard";
  EXPECT_EQ(result->current->value.view(), "one");
  result = store().WriteGuarded(ctx_, {.key = key, .value = "two", .expected = created}, guard);
  ASSERT_TRUE(result.ok() && result->written);
  const Revision updated = result->revision;
  EXPECT_GT(updated, created);

  // Delete it.
  result = store().WriteGuarded(ctx_, {.key = key, .expected = updated}, before);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->written);
  result = store().WriteGuarded(ctx_, {.key = key, .expected = updated}, {Key("nothing"), 1});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->written) << "a guard that is gone does not hold";
  result = store().WriteGuarded(ctx_, {.key = key, .expected = updated}, guard);
  ASSERT_TRUE(result.ok() && result->written);
  EXPECT_THAT(Describe(List({})), ElementsAre("guard=two"));
}

TEST_P(StoreContract, DeletedKeyCanBeCreatedAgain) {
  Delete("a", Create("a", "one"));
  Create("a", "two");
  EXPECT_THAT(Describe(List({})), ElementsAre("a=two"));
}

TEST_P(StoreContract, EveryWriteHasALargerRevision) {
  Revision last = Now();
  for (int i = 0; i < 20; ++i) {
    const Revision created = Create("a", "x");
    EXPECT_GT(created, last);
    last = Delete("a", created);
    EXPECT_GT(last, created);
    EXPECT_GE(Now(), last);
  }
}

TEST_P(StoreContract, ListIsSortedByKeyAndStaysUnderThePrefix) {
  Create("b", "2");
  Create("a/x", "1");
  Create("c", "3");
  // A sibling key that begins like the prefix, without the slash.
  ASSERT_TRUE(store().Create(ctx_, prefix_.substr(0, prefix_.size() - 1) + "0", "no").ok());
  const Page page = List({});
  EXPECT_THAT(Describe(page), ElementsAre("a/x=1", "b=2", "c=3"));
  EXPECT_EQ(page.count, 3);
  EXPECT_FALSE(page.more);
  EXPECT_GE(page.revision, page.items.back().revision);
}

TEST_P(StoreContract, EmptyListReturnsTheRevision) {
  const Revision now = Now();
  const Page page = List({});
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_EQ(page.count, 0);
  EXPECT_GE(page.revision, now);
}

TEST_P(StoreContract, ListIsPaginatedAtOneRevision) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Create(name, name);
  ListOptions options;
  options.limit = 2;
  Page page = List(options);
  EXPECT_THAT(Describe(page), ElementsAre("a=a", "b=b"));
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.count, 5);

  // Concurrent changes are not visible in the following pages.
  options.at = page.revision;
  Create("c1", "late");
  options.start = page.items.back().key + '\0';
  page = List(options);
  EXPECT_THAT(Describe(page), ElementsAre("c=c", "d=d"));
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.count, 3);
  EXPECT_EQ(page.revision, options.at);
  options.start = page.items.back().key + '\0';
  page = List(options);
  EXPECT_THAT(Describe(page), ElementsAre("e=e"));
  EXPECT_FALSE(page.more);
}

TEST_P(StoreContract, ListThatStartsAfterTheLastKeyIsEmpty) {
  Create("a", "a");
  for (const std::string& start : {Key("b"), std::string("/zzz")}) {
    ListOptions options;
    options.start = start;
    EXPECT_THAT(List(options).items, IsEmpty());
  }
}

TEST_P(StoreContract, ListWithKeysOnlyHasNoValues) {
  const Revision created = Create("a", "one");
  ListOptions options;
  options.keys_only = true;
  const Page page = List(options);
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items[0].key, Key("a"));
  EXPECT_EQ(page.items[0].revision, created);
  EXPECT_TRUE(page.items[0].value.empty());
}

TEST_P(StoreContract, ListsPastRevisions) {
  const Revision before = Now();
  const Revision a1 = Create("a", "1");
  const Revision b1 = Create("b", "1");
  const Revision a2 = Update("a", "2", a1);
  const Revision b2 = Delete("b", b1);
  EXPECT_THAT(ListAt(before).items, IsEmpty());
  EXPECT_THAT(Describe(ListAt(a1)), ElementsAre("a=1"));
  EXPECT_THAT(Describe(ListAt(b1)), ElementsAre("a=1", "b=1"));
  EXPECT_THAT(Describe(ListAt(a2)), ElementsAre("a=2", "b=1"));
  EXPECT_THAT(Describe(ListAt(b2)), ElementsAre("a=2"));
  EXPECT_EQ(ListAt(b1).revision, b1);
  EXPECT_EQ(ListAt(b1).count, 2);
}

TEST_P(StoreContract, ListOfFutureRevisionFails) {
  ListOptions options;
  options.at = Now() + 1000;
  const auto page = store().List(ctx_, prefix_, options);
  EXPECT_TRUE(IsFutureRevision(page.status())) << page.status().ToString();
}

TEST_P(StoreContract, CompactedRevisionsAreExpired) {
  const Revision a1 = Create("a", "1");
  const Revision a2 = Update("a", "2", a1);
  const Revision b1 = Create("b", "1");
  const Revision a3 = Update("a", "3", a2);
  ASSERT_TRUE(store().Compact(ctx_, b1).ok());

  ListOptions options;
  options.at = a2;
  const auto old = store().List(ctx_, prefix_, options);
  EXPECT_TRUE(old.status().Is(Reason::kExpired)) << old.status().ToString();
  EXPECT_THAT(Describe(ListAt(b1)), ElementsAre("a=2", "b=1"));
  EXPECT_THAT(Describe(ListAt(a3)), ElementsAre("a=3", "b=1"));
  EXPECT_THAT(Describe(List({})), ElementsAre("a=3", "b=1"));

  const Status again = store().Compact(ctx_, a2);
  EXPECT_TRUE(again.Is(Reason::kExpired)) << again.ToString();
  const Status future = store().Compact(ctx_, Now() + 1000);
  EXPECT_TRUE(IsFutureRevision(future)) << future.ToString();
}

TEST_P(StoreContract, StoppedContextIsReturnedAsError) {
  Context stopped = ctx_.Child();
  stopped.Stop();
  EXPECT_EQ(store().Create(stopped, Key("a"), "x").status(), stopped.status());
  EXPECT_EQ(store().Get(stopped, Key("a")).status(), stopped.status());
  EXPECT_EQ(store().List(stopped, prefix_, {}).status(), stopped.status());
  EXPECT_EQ(store().Healthy(stopped), stopped.status());
  EXPECT_THAT(List({}).items, IsEmpty());
}

TEST_P(StoreContract, ConcurrentIncrementsLoseNoUpdate) {
  constexpr int kThreads = 8;
  constexpr int kEach = 50;
  Create("counter", "0");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&]() {
      auto current = *store().Get(ctx_, Key("counter"))->kv;
      for (int i = 0; i < kEach; ++i) {
        while (true) {
          const std::string next = std::to_string(std::stoi(std::string(current.value.view())) + 1);
          auto result = store().Update(ctx_, Key("counter"), next, current.revision);
          ASSERT_TRUE(result.ok()) << result.status().ToString();
          if (result->written) {
            current.value = Bytes(next);
            current.revision = result->revision;
            break;
          }
          current = *std::move(result->current);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(Describe(List({})), ElementsAre("counter=" + std::to_string(kThreads * kEach)));
}

TEST_P(StoreContract, OneOfConcurrentCreatesWins) {
  constexpr int kThreads = 8;
  std::atomic<int> won = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t]() {
      const auto created = store().Create(ctx_, Key("a"), std::to_string(t));
      if (created.ok()) {
        ++won;
      } else {
        EXPECT_TRUE(created.status().Is(Reason::kAlreadyExists)) << created.status().ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
}

TEST_P(StoreContract, AcceptsLargeValuesAndRejectsTooLargeOnes) {
  const std::string megabyte(1 << 20, 'm');
  const Revision before = Now();
  Create("large", megabyte);
  EXPECT_EQ(store().Get(ctx_, Key("large"))->kv->value.view(), megabyte);
  for (const size_t size : {size_t{1700} << 10, size_t{4} << 20}) {
    const auto created = store().Create(ctx_, Key("too-large"), std::string(size, 'x'));
    EXPECT_TRUE(created.status().Is(Reason::kRequestEntityTooLarge)) << created.status().ToString();
  }
  const auto watch = WatchAfter(before);
  EXPECT_EQ(Take(*watch, 1).front().kv.value.view(), megabyte);
}

TEST_P(StoreContract, IsHealthy) { EXPECT_TRUE(store().Healthy(ctx_).ok()); }

}  // namespace cox::storage
