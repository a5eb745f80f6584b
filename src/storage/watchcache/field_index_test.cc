// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/field_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "storage/testing/test_support.h"
#include "storage/unreadable.h"

namespace cox::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Keys(const std::vector<EntryPtr>& entries) {
  std::vector<std::string> keys;
  for (const EntryPtr& entry : entries) keys.emplace_back(entry->key());
  return keys;
}

TEST(FieldIndexTest, FollowsValuesAndIgnoresEntriesWithoutOne) {
  FieldIndex index;
  const EntryPtr a = IndexedEntry("/a", "node=one", 1);
  const EntryPtr b = IndexedEntry("/b", "", 2);
  index.Reset({a, b});
  EXPECT_THAT(Keys(index.Find("one")), ElementsAre("/a"));
  EXPECT_THAT(Keys(index.Find("")), IsEmpty());

  const EntryPtr bound = IndexedEntry("/b", "node=one", 3);
  index.Change(b, bound);
  EXPECT_THAT(Keys(index.Find("one")), ElementsAre("/a", "/b"));
  const EntryPtr newer = IndexedEntry("/b", "x=y,node=one", 4);
  index.Change(bound, newer);
  EXPECT_EQ(index.Find("one")[1], newer);
  const EntryPtr moved = IndexedEntry("/a", "node=two", 5);
  index.Change(a, moved);
  EXPECT_THAT(Keys(index.Find("one")), ElementsAre("/b"));
  EXPECT_THAT(Keys(index.Find("two")), ElementsAre("/a"));
  index.Change(newer, nullptr);
  EXPECT_THAT(Keys(index.Find("one")), IsEmpty());
}

// Its value is not known, and a list without it would be incomplete.
TEST(FieldIndexTest, UnreadableEntryIsFoundByEveryValue) {
  const Bytes unreadable = UnreadableValue("no key");
  FieldIndex index;
  index.Reset({IndexedEntry("/a", "node=one", 1), IndexedEntry("/b", unreadable.view(), 2),
               IndexedEntry("/c", "node=one", 3)});
  EXPECT_THAT(Keys(index.Find("one")), ElementsAre("/a", "/b", "/c"));
  EXPECT_THAT(Keys(index.Find("two")), ElementsAre("/b"));
  const EntryPtr lost = IndexedEntry("/a", unreadable.view(), 4);
  index.Change(IndexedEntry("/a", "node=one", 1), lost);
  EXPECT_THAT(Keys(index.Find("two")), ElementsAre("/a", "/b"));
  index.Change(lost, IndexedEntry("/a", "node=two", 5));
  EXPECT_THAT(Keys(index.Find("one")), ElementsAre("/b", "/c"));
  EXPECT_THAT(Keys(index.Find("two")), ElementsAre("/a", "/b"));
  index.Reset({});
  EXPECT_THAT(Keys(index.Find("two")), IsEmpty());
}

TEST(FieldIndexTest, AgreesWithAScanAfterRandomChanges) {
  std::mt19937 random(7);
  FieldIndex index;
  std::map<std::string, EntryPtr> entries;
  for (Revision revision = 1; revision <= 20'000; ++revision) {
    const std::string key = "/" + std::to_string(random() % 200);
    const uint32_t node = random() % 8;
    EntryPtr& entry = entries[key];
    EntryPtr next = node == 0   ? nullptr
                    : node == 1 ? IndexedEntry(key, "x=y", revision)
                                : IndexedEntry(key, "node=" + std::to_string(node), revision);
    index.Change(entry, next);
    entry = std::move(next);
    if (revision % 1000 != 0) continue;
    for (int value = 2; value < 8; ++value) {
      std::vector<std::string> want;
      for (const auto& [name, found] : entries) {
        if (found != nullptr && found->indexed_value() == std::to_string(value)) {
          want.push_back(name);
        }
      }
      EXPECT_EQ(Keys(index.Find(std::to_string(value))), want);
    }
  }
}

}  // namespace
}  // namespace cox::storage
