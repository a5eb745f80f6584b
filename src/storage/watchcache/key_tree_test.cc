// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/key_tree.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/testing/test_support.h"

namespace cox::storage {
namespace {

using Model = std::map<std::string, EntryPtr>;

std::string KeyOf(unsigned number) {
  return "/r/pods/ns" + std::to_string(number % 7) + "/p" + std::to_string(number);
}

std::vector<EntryPtr> Collect(const KeyTree& tree, std::string_view prefix,
                              std::string_view start = {}) {
  std::vector<EntryPtr> all;
  tree.Visit(prefix, start, [&](const EntryPtr& entry) {
    all.push_back(entry);
    return true;
  });
  return all;
}

std::vector<EntryPtr> Collect(const Model& model, std::string_view prefix,
                              std::string_view start = {}) {
  std::vector<EntryPtr> all;
  for (const auto& [key, entry] : model) {
    if (key.starts_with(prefix) && key >= start) all.push_back(entry);
  }
  return all;
}

void ExpectSame(const KeyTree& tree, const Model& model) {
  ASSERT_EQ(tree.size(), model.size());
  ASSERT_EQ(Collect(tree, ""), Collect(model, ""));
  for (const char* prefix : {"/r/pods/", "/r/pods/ns3/", "/r/pods/ns3/p1", "/r/nothing/", "/z"}) {
    for (const char* start : {"", "/r/pods/ns3/p2", "/r/pods/ns4/", "/zz"}) {
      ASSERT_EQ(Collect(tree, prefix, start), Collect(model, prefix, start)) << prefix << start;
      ASSERT_EQ(tree.Count(prefix, start), Collect(model, prefix, start).size()) << prefix << start;
    }
  }
}

// Compares random changes with std::map; shared versions must not change.
TEST(KeyTreeTest, BehavesLikeAMapAndSharedVersionsAreImmutable) {
  for (const unsigned keys : {20u, 300u, 3000u}) {
    SCOPED_TRACE(keys);
    std::minstd_rand random(keys);
    KeyTree tree;
    Model model;
    std::vector<std::pair<KeyTree, Model>> states;
    for (int step = 0; step < 8000; ++step) {
      const std::string key = KeyOf(static_cast<unsigned>(random()) % keys);
      // Grow, then shrink, then grow.
      const bool shrinking = step / 2700 == 1;
      const auto found = model.find(key);
      const EntryPtr before = found == model.end() ? nullptr : found->second;
      ASSERT_EQ(tree.Find(key), before);
      if (random() % 100 < (shrinking ? 80u : 25u)) {
        ASSERT_EQ(tree.Erase(key), before);
        model.erase(key);
      } else {
        const EntryPtr entry = TestEntry(key, "v", step);
        ASSERT_EQ(tree.Put(entry), before);
        model[key] = entry;
      }
      if (random() % 700 == 0) states.emplace_back(tree.Share(), model);
    }
    ExpectSame(tree, model);
    for (const auto& [state, then] : states) ExpectSame(state, then);
  }
}

TEST(KeyTreeTest, EraseAllLeavesAnEmptyTree) {
  KeyTree tree;
  for (unsigned i = 0; i < 2000; ++i) tree.Put(TestEntry(KeyOf(i)));
  for (unsigned i = 0; i < 2000; ++i) ASSERT_NE(tree.Erase(KeyOf(i)), nullptr);
  EXPECT_EQ(tree.size(), 0u);
  EXPECT_EQ(tree.Erase("/r"), nullptr);
  EXPECT_EQ(tree.Put(TestEntry("/again")), nullptr);
  EXPECT_EQ(tree.size(), 1u);
}

TEST(KeyTreeTest, BuildsFromSortedEntries) {
  for (const unsigned size : {0u, 1u, 27u, 28u, 29u, 57u, 1000u, 30000u}) {
    SCOPED_TRACE(size);
    Model model;
    for (unsigned i = 0; i < size; ++i) model[KeyOf(i)] = TestEntry(KeyOf(i));
    KeyTree tree = KeyTree::FromSorted(Collect(model, ""));
    ExpectSame(tree, model);
    for (unsigned i = 0; i < size; i += 3) {
      tree.Erase(KeyOf(i));
      model.erase(KeyOf(i));
    }
    ExpectSame(tree, model);
  }
}

TEST(KeyTreeTest, ForkDoesNotChangeTheOriginal) {
  KeyTree tree;
  for (unsigned i = 0; i < 500; ++i) tree.Put(TestEntry(KeyOf(i)));
  const KeyTree state = tree.Share();
  KeyTree fork = state.Fork();
  for (unsigned i = 0; i < 500; i += 2) fork.Erase(KeyOf(i));
  EXPECT_EQ(fork.size(), 250u);
  EXPECT_EQ(state.size(), 500u);
  EXPECT_EQ(tree.size(), 500u);
}

TEST(KeyTreeTest, VisitStopsWhenCallbackReturnsFalse) {
  KeyTree tree;
  for (unsigned i = 0; i < 200; ++i) tree.Put(TestEntry(KeyOf(i)));
  int visited = 0;
  tree.Visit("", "", [&](const EntryPtr&) { return ++visited < 70; });
  EXPECT_EQ(visited, 70);
}

// A shared version is read without a lock while the original tree changes.
TEST(KeyTreeTest, SharedVersionIsReadableWhileTheTreeChanges) {
  KeyTree tree;
  for (unsigned i = 0; i < 1000; ++i) tree.Put(TestEntry(KeyOf(i), "v", 0));
  for (int round = 0; round < 20; ++round) {
    const KeyTree state = tree.Share();
    std::vector<std::thread> readers;
    for (int t = 0; t < 2; ++t) {
      readers.emplace_back([&state, round] {
        for (int pass = 0; pass < 5; ++pass) {
          size_t seen = 0;
          state.Visit("/r/", "", [&](const EntryPtr& entry) {
            EXPECT_LE(entry->revision(), round);
            ++seen;
            return true;
          });
          EXPECT_EQ(seen, 1000u);
        }
      });
    }
    for (unsigned i = 0; i < 1000; i += 2) tree.Put(TestEntry(KeyOf(i), "v", round + 1));
    for (unsigned i = 1; i < 1000; i += 2) {
      tree.Erase(KeyOf(i));
      tree.Put(TestEntry(KeyOf(i), "v", round + 1));
    }
    for (std::thread& reader : readers) reader.join();
  }
}

TEST(PrefixEndTest, IsTheFirstKeyAfterThePrefix) {
  EXPECT_EQ(PrefixEnd("/r/"), "/r0");
  EXPECT_EQ(PrefixEnd("a\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff\xff"), "");
  EXPECT_EQ(PrefixEnd(""), "");
}

}  // namespace
}  // namespace cox::storage
