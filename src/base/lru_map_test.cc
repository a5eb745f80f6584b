// SPDX-License-Identifier: Apache-2.0
#include "base/lru_map.h"

#include <gtest/gtest.h>

namespace cox {
namespace {

TEST(LruMap, EvictsTheLeastRecentlyUsedEntry) {
  LruMap<int> map(2);
  map.Put("a", 1);
  map.Put("b", 2);
  EXPECT_EQ(*map.Find("a"), 1);
  map.Put("c", 3);
  EXPECT_EQ(map.Find("b"), nullptr);
  EXPECT_EQ(*map.Find("a"), 1);
  EXPECT_EQ(*map.Find("c"), 3);
  EXPECT_EQ(map.size(), 2U);
}

TEST(LruMap, PutReplacesAndEraseRemoves) {
  LruMap<std::string> map(1);
  map.Put("a", "one");
  *map.Put("a", "two") += "!";
  EXPECT_EQ(*map.Find("a"), "two!");
  map.Erase("a");
  map.Erase("a");
  EXPECT_EQ(map.Find("a"), nullptr);
  EXPECT_EQ(map.size(), 0U);
}

}  // namespace
}  // namespace cox
