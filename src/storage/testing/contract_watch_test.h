// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "storage/testing/contract_fixture.h"

// The part of the contract about watches and TTLs. See contract_test.h.
namespace cox::storage {

TEST_P(StoreContract, WatchFromACompactedRevisionIsExpired) {
  const Revision a1 = Create("a", "1");
  const Revision a2 = Update("a", "2", a1);
  const Revision a3 = Update("a", "3", a2);
  ASSERT_TRUE(store().Compact(ctx_, a3).ok());
  const auto watch = WatchAfter(a1 - 1);
  const auto batch = watch->Next(ctx_);
  EXPECT_TRUE(batch.status().Is(Reason::kExpired)) << batch.status().ToString();
  // The watch stays expired, and a watch from a readable revision works.
  EXPECT_TRUE(watch->Next(ctx_).status().Is(Reason::kExpired));
  const auto later = WatchAfter(a2);
  EXPECT_THAT(Describe(Take(*later, 1)), ElementsAre("~a=3"));
}

TEST_P(StoreContract, WatchFromPastRevisionDeliversAllEventsInOrder) {
  const Revision before = Now();
  const Revision a1 = Create("a", "1");
  const Revision b1 = Create("b", "1");
  const Revision a2 = Update("a", "2", a1);
  const Revision b2 = Delete("b", b1);
  const auto watch = WatchAfter(before);
  const std::vector<Event> events = Take(*watch, 4);
  EXPECT_THAT(Describe(events), ElementsAre("+a=1", "+b=1", "~a=2", "-b"));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].kv.revision, a1);
  EXPECT_EQ(events[2].kv.revision, a2);
  EXPECT_EQ(events[3].kv.revision, b2);
  EXPECT_EQ(events[3].kv.key, Key("b"));
  const auto half = WatchAfter(b1);
  EXPECT_THAT(Describe(Take(*half, 2)), ElementsAre("~a=2", "-b"));
}

TEST_P(StoreContract, WatchDeliversLaterEvents) {
  const auto watch = WatchAfter(Now());
  std::vector<Event> events;
  std::thread reader([&]() { events = Take(*watch, 3); });
  const Revision created = Create("a", "1");
  Delete("a", Update("a", "2", created));
  reader.join();
  EXPECT_THAT(Describe(events), ElementsAre("+a=1", "~a=2", "-a"));
}

TEST_P(StoreContract, WatchDeliversOnlyEventsOfItsPrefix) {
  const auto watch = WatchAfter(Now());
  ASSERT_TRUE(store().Create(ctx_, prefix_.substr(0, prefix_.size() - 1) + "0", "no").ok());
  ASSERT_TRUE(store().Create(ctx_, "/other" + prefix_, "no").ok());
  Create("a", "yes");
  EXPECT_THAT(Describe(Take(*watch, 1)), ElementsAre("+a=yes"));
}

TEST_P(StoreContract, ManyWatchesDeliverTheSameEvents) {
  constexpr int kWatches = 20;
  constexpr int kKeys = 50;
  const Revision before = Now();
  std::vector<std::vector<Event>> seen(kWatches);
  std::vector<std::thread> readers;
  for (int i = 0; i < kWatches; ++i) {
    readers.emplace_back([&, i]() { seen[i] = Take(*WatchAfter(before), kKeys); });
  }
  for (int i = 0; i < kKeys; ++i) Create(std::to_string(i), "x");
  for (std::thread& reader : readers) reader.join();
  for (const std::vector<Event>& events : seen) {
    EXPECT_EQ(Describe(events), Describe(seen.front()));
  }
}

TEST_P(StoreContract, ProgressReportsTheRevisionWithoutEvents) {
  const auto watch = WatchAfter(Now());
  // Another write, so that the revision increases.
  ASSERT_TRUE(store().Create(ctx_, "/other" + prefix_, "x").ok());
  const Revision now = Now();
  // A request before the watch is established may be lost: request again, as in production.
  Result<WatchBatch> batch = Status::Unavailable("not asked yet");
  while (!ctx_.Done()) {
    ASSERT_TRUE(watch->RequestProgress().ok());
    Context attempt = ctx_.WithTimeout(milliseconds(200));
    batch = watch->Next(attempt);
    if (batch.ok()) break;
    ASSERT_TRUE(attempt.Done()) << batch.status().ToString();
  }
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_THAT(batch->events, IsEmpty());
  EXPECT_GE(batch->revision, now);
}

TEST_P(StoreContract, ProgressComesAfterTheEventsItCovers) {
  const Revision before = Now();
  for (int i = 0; i < 100; ++i) Create(std::to_string(i), "x");
  const Revision now = Now();
  const auto watch = WatchAfter(before);
  size_t seen = 0;
  Revision covered = before;
  while (covered < now && !ctx_.Done()) {
    ASSERT_TRUE(watch->RequestProgress().ok());
    Context attempt = ctx_.WithTimeout(milliseconds(200));
    const auto batch = watch->Next(attempt);
    if (!batch.ok()) {
      ASSERT_TRUE(attempt.Done()) << batch.status().ToString();
      continue;
    }
    seen += batch->events.size();
    covered = batch->revision;
  }
  EXPECT_EQ(seen, 100U);
}

TEST_P(StoreContract, StoppedContextEndsNextButNotTheWatch) {
  const auto watch = WatchAfter(Now());
  Context attempt = ctx_.Child();
  std::thread stopper([&attempt]() { attempt.Stop(); });
  const auto batch = watch->Next(attempt);
  stopper.join();
  EXPECT_EQ(batch.status(), attempt.status());
  Create("a", "1");
  EXPECT_THAT(Describe(Take(*watch, 1)), ElementsAre("+a=1"));
}

TEST_P(StoreContract, KeyWithTtlExpires) {
  const auto watch = WatchAfter(Now());
  Create("short", "x", seconds(2));
  Create("long", "y", seconds(3600));
  Create("ever", "z");
  backend_->Pass(seconds(5));
  const std::vector<Event> events = Take(*watch, 4);
  EXPECT_THAT(Describe(events), ElementsAre("+short=x", "+long=y", "+ever=z", "-short"));
  EXPECT_THAT(Describe(List({})), ElementsAre("ever=z", "long=y"));
}

TEST_P(StoreContract, UpdateWithoutTtlRemovesTheTtl) {
  const auto watch = WatchAfter(Now());
  const Revision kept = Create("kept", "1", seconds(2));
  Create("short", "1", seconds(2));
  Update("kept", "2", kept);
  backend_->Pass(seconds(5));
  EXPECT_THAT(Describe(Take(*watch, 4)), ElementsAre("+kept=1", "+short=1", "~kept=2", "-short"));
  EXPECT_THAT(Describe(List({})), ElementsAre("kept=2"));
}

TEST_P(StoreContract, ChangesOfOneRevisionAreInOneBatch) {
  const auto watch = WatchAfter(Now());
  // Keys that expire at the same time are deleted in one revision.
  constexpr size_t kKeys = 30;
  for (size_t i = 0; i < kKeys; ++i) Create(std::to_string(i), "x", seconds(2));
  Take(*watch, kKeys);
  backend_->Pass(seconds(5));
  std::set<Revision> revisions;
  size_t events = 0;
  while (events < kKeys) {
    const auto batch = watch->Next(ctx_);
    ASSERT_TRUE(batch.ok()) << batch.status().ToString();
    for (const Event& event : batch->events) {
      EXPECT_EQ(event.type, Event::Type::kDelete);
      EXPECT_EQ(revisions.count(event.kv.revision), 0U) << "a revision came in two batches";
    }
    for (const Event& event : batch->events) revisions.insert(event.kv.revision);
    events += batch->events.size();
  }
  EXPECT_LT(revisions.size(), kKeys) << "no two keys expired together";
}

TEST_P(StoreContract, LargeListsAndWatchBacklogsAreComplete) {
  constexpr size_t kKeys = 24;
  const Revision before = Now();
  const std::string value(1 << 20, 'v');
  for (size_t i = 0; i < kKeys; ++i) Create(std::to_string(100 + i), value);
  const Page page = List({});
  ASSERT_EQ(page.items.size(), kKeys);
  for (const KeyValue& kv : page.items) EXPECT_EQ(kv.value.view(), value);
  const auto watch = WatchAfter(before);
  for (const Event& event : Take(*watch, kKeys)) EXPECT_EQ(event.kv.value.view(), value);
}

}  // namespace cox::storage
