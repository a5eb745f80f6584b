// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/pods/index_set.h"

#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

TEST(IndexSet, ReadsAndWritesRanges) {
  for (const char* text : {"", "0", "1,3-5,7", "0,1,4,5", "0-9", "2-4,6-8"}) {
    EXPECT_EQ(IndexSet::Parse(text, 10).ToString(), text);
  }
  EXPECT_EQ(IndexSet::Parse("1-3", 10).count(), 3);
}

TEST(IndexSet, IgnoresOutOfRangeAndInvalidNumbers) {
  EXPECT_EQ(IndexSet::Parse("1,3-8", 5).ToString(), "1,3,4");
  EXPECT_EQ(IndexSet::Parse("x,2,-1,3-x", 5).ToString(), "2");
}

TEST(IndexSet, AddsOnce) {
  IndexSet set(3);
  EXPECT_TRUE(set.Add(2));
  EXPECT_FALSE(set.Add(2));
  EXPECT_FALSE(set.Add(3));
  EXPECT_FALSE(set.Add(-1));
  EXPECT_EQ(set.count(), 1);
  EXPECT_EQ(set.CountIn(IndexSet::Parse("0-2", 3)), 1);
}

}  // namespace
}  // namespace cox::controllers
