// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/text_diff.h"

#include <gtest/gtest.h>

#include <string>

namespace cox::apiserver {
namespace {

TEST(UnifiedDiff, IsEmptyForEqualTexts) { EXPECT_EQ(UnifiedDiff("a\nb", "a\nb"), ""); }

TEST(UnifiedDiff, ShowsThreeLinesOfContext) {
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, SplitsDistantChangesIntoHunks) {
  std::string before, after;
  for (int i = 0; i < 20; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 2 || i == 17 ? "x" : std::to_string(i)) + "\n";
  }
  EXPECT_EQ(UnifiedDiff(before, after),
            "@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+x\n 3\n 4\n 5\n"
            "@@ -15,7 +15,7 @@\n 14\n 15\n 16\n-17\n+x\n 18\n 19\n \n");
}

TEST(UnifiedDiff, ShowsInsertedAndDeletedLines) {
  EXPECT_EQ(UnifiedDiff("a\nb", "a\nx\nb"), "@@ -1,2 +1,3 @@\n a\n+x\n b\n");
  EXPECT_EQ(UnifiedDiff("a\nx\nb", "a\nb"), "@@ -1,3 +1,2 @@\n a\n-x\n b\n");
  EXPECT_EQ(UnifiedDiff("a", "b"), "@@ -1 +1 @@\n-a\n+b\n");
}

// A full match of a long text with many equal lines would take too long.
TEST(UnifiedDiff, LongTextsMatchOnlyCommonBeginningAndEnd) {
  std::string same;
  for (int i = 0; i < 50'000; ++i) same += "{\n";
  const std::string diff = UnifiedDiff(same + "a\n" + same, same + "b\n" + same);
  EXPECT_EQ(diff, "@@ -49998,7 +49998,7 @@\n {\n {\n {\n-a\n+b\n {\n {\n {\n");
}

}  // namespace
}  // namespace cox::apiserver
