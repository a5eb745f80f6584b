// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/cache_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/test_clock.h"
#include "storage/testing/test_support.h"

namespace cox::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Event Put(const std::string& key, Revision revision, bool created) {
  return {Event::Type::kPut, {key, Bytes("v" + std::to_string(revision)), revision}, created};
}
Event Create(const std::string& key, Revision revision) { return Put(key, revision, true); }
Event Update(const std::string& key, Revision revision) { return Put(key, revision, false); }
Event Delete(const std::string& key, Revision revision) {
  return {Event::Type::kDelete, {key, {}, revision}, false};
}

class CacheStateTest : public ::testing::Test {
 protected:
  CacheStateTest() {
    // a@3 and b@5, at revision 10.
    List({{"/r/a", 3}, {"/r/b", 5}}, 10);
    WatchOptions options{"/r/"};
    options.after = 10;
    watcher_ = *state_.log().Watch(std::move(options));
  }

  CacheState::Difference List(const std::vector<std::pair<std::string, Revision>>& keys,
                              Revision revision) {
    std::vector<EntryPtr> entries;
    const SnapshotPtr now = state_.Current();
    for (const auto& [key, at] : keys) {
      EntryPtr known = now == nullptr ? nullptr : now->Find(key);
      const KeyValue kv{key, Bytes("v" + std::to_string(at)), at};
      entries.push_back(known != nullptr && known->revision() == at ? known : state_.MakeEntry(kv));
    }
    return state_.Replace(std::move(entries), revision);
  }
  CacheState::Outcome Apply(std::vector<Event> events, Revision revision) {
    return state_.Apply({std::move(events), revision});
  }
  static std::vector<std::string> Keys(const SnapshotPtr& snapshot) {
    std::vector<std::string> keys;
    snapshot->Visit("", "", [&](const EntryPtr& entry) {
      keys.push_back(std::string(entry->key()) + "@" + std::to_string(entry->revision()));
      return true;
    });
    return keys;
  }
  std::vector<std::string> Taken() {
    const auto batch = watcher_->Take(100);
    return batch.ok() ? ToText(batch->changes) : std::vector<std::string>{"expired"};
  }

  TestClock clock_;
  TextHeads heads_;
  CacheState state_{clock_, "/r/", 4096, 4096, heads_, std::make_shared<EncodingBudget>()};
  std::unique_ptr<Watcher> watcher_;
};

TEST_F(CacheStateTest, AppliesConsistentEvents) {
  const auto outcome = Apply({Create("/r/c", 11), Update("/r/a", 12), Delete("/r/b", 13)}, 13);
  EXPECT_EQ(outcome.inconsistency, "");
  EXPECT_EQ(outcome.changes, 3u);
  EXPECT_THAT(Keys(state_.Current()), ElementsAre("/r/a@12", "/r/c@11"));
  EXPECT_EQ(state_.Current()->revision(), 13);
  EXPECT_THAT(Taken(), ElementsAre("+/r/c@11", "~/r/a@12", "-/r/b@13"));
  EXPECT_EQ(state_.objects(), 2u);
  EXPECT_EQ(state_.bytes(), 6u);
}

TEST_F(CacheStateTest, ChangesContainThePreviousEntry) {
  Apply({Update("/r/a", 12), Delete("/r/a", 14)}, 14);
  const auto batch = watcher_->Take(10);
  ASSERT_EQ(batch->changes.size(), 2u);
  EXPECT_EQ(batch->changes[0]->previous->stored(), "v3");
  EXPECT_EQ(batch->changes[1]->previous->revision(), 12);
  EXPECT_EQ(batch->changes[1]->entry->revision(), 14);
  EXPECT_EQ(batch->changes[1]->entry->stored(), "v12");
}

// Faults seen in etcd's watches: harmless ones are ignored, others are reported.
TEST_F(CacheStateTest, IgnoresDuplicateEventsAndReportsInconsistentOnes) {
  ASSERT_EQ(Apply({Create("/r/c", 11), Delete("/r/b", 12)}, 12).inconsistency, "");
  struct Case {
    const char* what;
    Event event;
    size_t repeated;
    bool contradicts;
  };
  const Case cases[] = {
      {"the last event again", Delete("/r/b", 12), 1, false},
      {"an older event again", Create("/r/c", 11), 1, false},
      {"an event from before the list", Update("/r/a", 3), 1, false},
      {"an event from before the list, overwritten since", Update("/r/a", 2), 1, false},
      {"the deletion of something long gone", Delete("/r/z", 4), 1, false},
      {"a put that progress said did not happen", Create("/r/late", 12), 0, true},
      {"an update that progress said did not happen", Update("/r/a", 12), 0, true},
      {"a deletion that progress said did not happen", Delete("/r/a", 12), 0, true},
      {"a creation of what is there", Create("/r/a", 13), 0, true},
      {"an update of what is not there", Update("/r/new", 13), 0, true},
      {"a deletion of what is not there", Delete("/r/new", 13), 0, true},
  };
  const auto before = Keys(state_.Current());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto outcome = Apply({c.event}, 12);
    EXPECT_EQ(outcome.repeated, c.repeated);
    EXPECT_EQ(!outcome.inconsistency.empty(), c.contradicts) << outcome.inconsistency;
    EXPECT_EQ(Keys(state_.Current()), before);
    EXPECT_EQ(state_.revision(), 12);
  }
}

TEST_F(CacheStateTest, DuplicateEventsWithinABatchAreIgnored) {
  const auto outcome =
      Apply({Update("/r/a", 11), Update("/r/a", 11), Delete("/r/b", 12), Delete("/r/b", 12)}, 12);
  EXPECT_EQ(outcome.inconsistency, "");
  EXPECT_EQ(outcome.repeated, 2u);
  EXPECT_THAT(Taken(), ElementsAre("~/r/a@11", "-/r/b@12"));
}

TEST_F(CacheStateTest, RevisionNeverDecreases) {
  Apply({}, 20);
  EXPECT_EQ(state_.Current()->revision(), 20);
  Apply({}, 15);
  EXPECT_EQ(state_.Current()->revision(), 20);
}

TEST_F(CacheStateTest, StopsAtFirstInconsistentEventOfABatch) {
  const auto outcome = Apply({Update("/r/a", 11), Update("/r/new", 12), Update("/r/b", 13)}, 13);
  EXPECT_NE(outcome.inconsistency, "");
  EXPECT_EQ(state_.revision(), 11);
  EXPECT_THAT(Taken(), ElementsAre("~/r/a@11"));
}

TEST_F(CacheStateTest, RelistIsDeliveredAsChanges) {
  const auto difference = List({{"/r/a", 3}, {"/r/c", 15}, {"/r/d", 12}}, 20);
  EXPECT_TRUE(difference.notified);
  EXPECT_THAT(Taken(), ElementsAre("+/r/d@12", "+/r/c@15", "-/r/b@20"));
  EXPECT_THAT(Keys(state_.Current()), ElementsAre("/r/a@3", "/r/c@15", "/r/d@12"));
  WatchOptions between{"/r/"};
  between.after = 15;
  EXPECT_TRUE(state_.log().Watch(between).status().Is(Reason::kExpired))
      << "what happened there is not known";
}

TEST_F(CacheStateTest, DeletionsFoundByRelistHaveUniqueRevisions) {
  List({{"/r/c", 19}}, 20);
  EXPECT_THAT(Taken(), ElementsAre("-/r/a@18", "+/r/c@19", "-/r/b@20"));
}

TEST_F(CacheStateTest, RelistThatCannotBeOrderedExpiresWatchers) {
  struct Case {
    const char* what;
    std::vector<std::pair<std::string, Revision>> keys;
    Revision revision;
  };
  const Case cases[] = {
      {"a change from before the cache's revision", {{"/r/a", 7}, {"/r/b", 5}}, 20},
      {"the store went back", {{"/r/a", 3}}, 8},
      {"more deletions than revisions", {}, 11},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    CacheState state(clock_, "/r/", 64, 64, heads_, std::make_shared<EncodingBudget>());
    std::vector<EntryPtr> first{state.MakeEntry({"/r/a", Bytes("x"), 3}),
                                state.MakeEntry({"/r/b", Bytes("x"), 5})};
    state.Replace(std::move(first), 10);
    WatchOptions options{"/r/"};
    options.after = 10;
    auto watcher = *state.log().Watch(std::move(options));
    std::vector<EntryPtr> second;
    for (const auto& [key, at] : c.keys) second.push_back(state.MakeEntry({key, Bytes("y"), at}));
    EXPECT_FALSE(state.Replace(std::move(second), c.revision).notified);
    EXPECT_TRUE(watcher->Take(1).status().Is(Reason::kExpired));
    EXPECT_EQ(state.revision(), c.revision);
    EXPECT_EQ(state.Current()->size(), c.keys.size());
  }
}

TEST_F(CacheStateTest, AtReturnsPastStates) {
  Apply({Create("/r/c", 11)}, 11);
  Apply({Update("/r/a", 13)}, 13);
  Apply({Delete("/r/b", 14), Update("/r/c", 15)}, 16);
  struct Case {
    Revision at;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {16, {"/r/a@13", "/r/c@15"}},          {15, {"/r/a@13", "/r/c@15"}},
      {14, {"/r/a@13", "/r/c@11"}},          {13, {"/r/a@13", "/r/b@5", "/r/c@11"}},
      {12, {"/r/a@3", "/r/b@5", "/r/c@11"}}, {10, {"/r/a@3", "/r/b@5"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.at);
    const SnapshotPtr past = state_.At(c.at);
    ASSERT_NE(past, nullptr);
    EXPECT_EQ(past->revision(), c.at);
    EXPECT_EQ(Keys(past), c.want);
    EXPECT_EQ(state_.At(c.at), past) << "made once";
  }
  EXPECT_EQ(state_.At(9), nullptr) << "before the list";
  EXPECT_EQ(state_.At(17), nullptr) << "in the future";
}

TEST_F(CacheStateTest, SnapshotsAreImmutable) {
  const SnapshotPtr before = state_.Current();
  EXPECT_EQ(state_.Current(), before) << "one for all readers while nothing changes";
  Apply({Update("/r/a", 11)}, 11);
  EXPECT_THAT(Keys(before), ElementsAre("/r/a@3", "/r/b@5"));
  EXPECT_THAT(Keys(state_.Current()), ElementsAre("/r/a@11", "/r/b@5"));
}

// A snapshot contains every change that a watcher received before; revision and content agree.
TEST_F(CacheStateTest, SnapshotsContainChangesDeliveredToWatchers) {
  constexpr Revision kLast = 2000;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([this] {
      WatchOptions options{"/r/"};
      options.after = 10;
      auto watcher = *state_.log().Watch(std::move(options));
      Revision seen = 0;
      while (seen < kLast) {
        const auto batch = watcher->Take(5);
        ASSERT_TRUE(batch.ok());
        if (!batch->changes.empty()) seen = batch->changes.back()->revision;
        const SnapshotPtr now = state_.Current();
        ASSERT_GE(now->revision(), seen);
        const EntryPtr entry = now->Find("/r/a");
        ASSERT_EQ(entry->revision(), now->revision() > 10 ? now->revision() : 3);
      }
    });
  }
  for (Revision r = 11; r <= kLast; ++r) Apply({Update("/r/a", r)}, r);
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace cox::storage
