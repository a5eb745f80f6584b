// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

namespace cox {
namespace {

TEST(Check, PassesWithoutEvaluatingTheMessage) {
  int evaluated = 0;
  auto message = [&] { return ++evaluated; };
  COX_CHECK(1 + 1 == 2) << message();
  EXPECT_EQ(evaluated, 0);
}

TEST(Check, IsOneStatementInIfElse) {
  bool other_branch = false;
  if (false)
    COX_CHECK(true);
  else
    other_branch = true;
  EXPECT_TRUE(other_branch);
}

TEST(Check, OkStatusPasses) { COX_CHECK_OK(Status()); }

TEST(CheckDeathTest, FailurePrintsLocationConditionAndMessage) {
  EXPECT_DEATH(COX_CHECK(1 > 2) << "ships: " << 3 << " of " << size_t{4},
               R"(^F check_test\.cc:[0-9]+\] Check failed: 1 > 2: ships: 3 of 4)");
}

TEST(CheckDeathTest, FailedStatusIsPrinted) {
  EXPECT_DEATH(COX_CHECK_OK(Status::NotFound("no pods")), "NotFound: no pods");
}

}  // namespace
}  // namespace cox
