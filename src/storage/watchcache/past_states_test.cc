// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/past_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/test_clock.h"
#include "storage/testing/test_support.h"
#include "storage/watchcache/cache_state.h"

namespace cox::storage {
namespace {

constexpr int kObjects = 1'000;
constexpr Revision kListed = 100;

// A cache of kObjects objects whose state at each revision is known.
class PastStatesTest : public ::testing::Test {
 protected:
  using Model = std::map<std::string, Revision>;  // revisions by key

  PastStatesTest() {
    std::vector<EntryPtr> entries;
    for (int i = 0; i < kObjects; ++i) {
      model_[KeyOf(i)] = 1;
      entries.push_back(state_.MakeEntry({KeyOf(i), Bytes("v"), 1}));
    }
    state_.Replace(std::move(entries), kListed);
    history_[kListed] = model_;
  }

  static std::string KeyOf(int i) { return "/r/" + std::to_string(10'000 + i); }

  // Updates, deletes or creates a random object.
  void Change() {
    const Revision revision = ++last_;
    const std::string key = KeyOf(static_cast<int>(random_() % (kObjects * 2)));
    const bool exists = model_.contains(key);
    Event event{Event::Type::kPut, {key, Bytes("v"), revision}, !exists};
    if (exists && random_() % 4 == 0) {
      event = {Event::Type::kDelete, {key, {}, revision}, false};
      model_.erase(key);
    } else {
      model_[key] = revision;
    }
    ASSERT_EQ(state_.Apply({{std::move(event)}, revision}).inconsistency, "");
    history_[revision] = model_;
  }
  void Change(int times) {
    for (int i = 0; i < times; ++i) Change();
  }

  static Model Contents(const SnapshotPtr& snapshot) {
    Model contents;
    snapshot->Visit("", "", [&](const EntryPtr& entry) {
      contents[std::string(entry->key())] = entry->revision();
      return true;
    });
    return contents;
  }
  void ExpectExact(const SnapshotPtr& state, Revision revision) {
    ASSERT_NE(state, nullptr) << revision;
    EXPECT_EQ(state->revision(), revision);
    EXPECT_EQ(Contents(state), history_.at(revision)) << revision;
    EXPECT_EQ(state->size(), history_.at(revision).size()) << revision;
  }

  std::mt19937 random_{7};
  Model model_;
  std::map<Revision, Model> history_;
  Revision last_ = kListed;
  TestClock clock_;
  TextHeads heads_;
  CacheState state_{clock_, "/r/", 4096, 4096, heads_, std::make_shared<EncodingBudget>()};
};

// 50 clients page through the objects, each at the revision of its first page, while objects
// change.
TEST_F(PastStatesTest, PagesOfManyClientsDoNotBuildStatesAgain) {
  constexpr int kClients = 50;
  constexpr int kPages = 10;
  std::vector<Revision> revisions;
  for (int client = 0; client < kClients; ++client) {
    revisions.push_back(state_.Current()->revision());
    Change(3);
  }
  std::vector<SnapshotPtr> first;
  for (const Revision revision : revisions) {
    first.push_back(state_.At(revision));
    ExpectExact(first.back(), revision);
    Change();
  }
  const uint64_t built = state_.past().applied();
  // The oldest state is built from the current one, and each other one from the one before.
  EXPECT_LE(built, uint64_t{kClients} * 3 + uint64_t{kClients} * 3);
  for (int page = 1; page < kPages; ++page) {
    for (size_t client = 0; client < kClients; ++client) {
      EXPECT_EQ(state_.At(revisions[client]), first[client]);
      Change();
    }
  }
  EXPECT_EQ(state_.past().applied(), built);
}

TEST_F(PastStatesTest, StatesBuiltInAnyOrderAreExact) {
  Change(300);
  PastStates past(state_.log(), {.states = 20});
  for (int i = 0; i < 400; ++i) {
    const auto back = static_cast<Revision>(random_() % 300);
    ExpectExact(past.At(last_ - back, state_.Current()), last_ - back);
    if (i % 10 == 0) Change();
  }
}

// With more clients than kept states, a page costs the changes to the nearest state, and not those
// to the current one.
TEST_F(PastStatesTest, DroppedStateIsBuiltFromNearestOne) {
  Change(20);
  const Revision old = last_;
  Change(1'000);
  PastStates past(state_.log(), {.states = 2});
  ExpectExact(past.At(old, state_.Current()), old);
  EXPECT_EQ(past.applied(), 1'000u);
  ExpectExact(past.At(old - 5, state_.Current()), old - 5);
  EXPECT_EQ(past.applied(), 1'005u) << "undone from the state after it";
  ExpectExact(past.At(old + 10, state_.Current()), old + 10);
  EXPECT_EQ(past.applied(), 1'015u) << "redone from the state before it";
  EXPECT_EQ(past.size(), 2u);
  ExpectExact(past.At(old, state_.Current()), old);
  EXPECT_EQ(past.applied(), 1'020u) << "the dropped state, from the nearer neighbor";
}

TEST_F(PastStatesTest, LeastRecentlyUsedStateIsDropped) {
  Change(10);
  PastStates past(state_.log(), {.states = 2});
  const SnapshotPtr used = past.At(101, state_.Current());
  const SnapshotPtr unused = past.At(102, state_.Current());
  EXPECT_EQ(past.At(101, state_.Current()), used);
  ASSERT_NE(past.At(103, state_.Current()), nullptr);
  EXPECT_EQ(past.At(101, state_.Current()), used);
  EXPECT_NE(past.At(102, state_.Current()), unused);
}

// The first state copies all leaves of the tree, at most 150, and each other one 25 from the one
// before. When the first is dropped, the second still keeps its leaves.
TEST_F(PastStatesTest, CopiedLeavesAreBounded) {
  Change(1'000);
  const auto read_ten = [&](PastStates& past) {
    for (int i = 0; i < 10; ++i) {
      const Revision revision = kListed + i * 25;
      ExpectExact(past.At(revision, state_.Current()), revision);
    }
  };
  PastStates some(state_.log(), {.leaves = 200});
  read_ten(some);
  EXPECT_GE(some.size(), 2u);
  EXPECT_LE(some.size(), 5u);
  PastStates one(state_.log(), {.leaves = 1});
  read_ten(one);
  EXPECT_EQ(one.size(), 1u) << "the latest is kept, whatever its size";
}

TEST_F(PastStatesTest, ConcurrentRequestsBuildAStateOnce) {
  constexpr int kThreads = 8;
  constexpr int kChanges = 20'000;  // building takes long enough that the requests overlap
  CacheState state(clock_, "/r/", kChanges, kChanges, heads_, std::make_shared<EncodingBudget>());
  std::vector<EntryPtr> entries;
  for (int i = 0; i < kObjects; ++i) entries.push_back(state.MakeEntry({KeyOf(i), Bytes("v"), 1}));
  state.Replace(std::move(entries), kListed);
  WatchBatch batch;
  for (int i = 1; i <= kChanges; ++i) {
    batch.revision = kListed + i;
    batch.events.push_back(
        {Event::Type::kPut, {KeyOf(i % kObjects), Bytes("v"), batch.revision}, false});
  }
  ASSERT_EQ(state.Apply(batch).inconsistency, "");
  std::vector<SnapshotPtr> states(kThreads);
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(states.size());
  for (SnapshotPtr& past : states) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      past = state.At(kListed);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_NE(states.front(), nullptr);
  for (const SnapshotPtr& past : states) EXPECT_EQ(past, states.front());
  EXPECT_EQ(state.past().applied(), uint64_t{kChanges});
  EXPECT_EQ(states.front()->Find(KeyOf(7))->revision(), 1);
}

TEST_F(PastStatesTest, StatesEndWithTheirChanges) {
  CacheState state(clock_, "/r/", 8, 8, heads_, std::make_shared<EncodingBudget>());
  state.Replace({state.MakeEntry({"/r/a", Bytes("v"), 1})}, 10);
  const auto update = [&](Revision revision) {
    state.Apply({{{Event::Type::kPut, {"/r/a", Bytes("v"), revision}, false}}, revision});
  };
  update(11);
  const std::weak_ptr<const Snapshot> past = state.At(10);
  ASSERT_FALSE(past.expired());
  for (Revision revision = 12; revision < 30; ++revision) update(revision);
  EXPECT_TRUE(past.expired()) << "also if no other past state is read";
  EXPECT_EQ(state.past().size(), 0u);
  EXPECT_EQ(state.At(10), nullptr);
}

// After a restore from a backup, the store uses the same revisions for other states.
TEST_F(PastStatesTest, StatesFromBeforeARestoreAreDropped) {
  CacheState state(clock_, "/r/", 64, 64, heads_, std::make_shared<EncodingBudget>());
  const auto update = [&](const std::string& key, Revision revision, bool created) {
    const auto outcome =
        state.Apply({{{Event::Type::kPut, {key, Bytes("v"), revision}, created}}, revision});
    ASSERT_EQ(outcome.inconsistency, "");
  };
  state.Replace({state.MakeEntry({"/r/a", Bytes("v"), 3})}, 10);
  update("/r/a", 15, false);
  update("/r/a", 20, false);
  const SnapshotPtr before = state.At(15);
  ASSERT_EQ(before->Find("/r/a")->revision(), 15);
  ASSERT_FALSE(state.Replace({state.MakeEntry({"/r/a", Bytes("v"), 3})}, 8).notified);
  update("/r/b", 15, true);
  update("/r/b", 20, false);
  const SnapshotPtr after = state.At(15);
  ASSERT_NE(after, nullptr);
  EXPECT_NE(after, before);
  EXPECT_EQ(after->Find("/r/a")->revision(), 3);
  EXPECT_NE(after->Find("/r/b"), nullptr);
}

}  // namespace
}  // namespace cox::storage
