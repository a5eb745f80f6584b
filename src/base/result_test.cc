// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace cox {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Status::Invalid("odd");
  return n / 2;
}

Status Check(int n) { return n < 0 ? Status::BadRequest("negative") : Status(); }

Result<int> Quarter(int n) {
  COX_RETURN_IF_ERROR(Check(n));
  COX_ASSIGN_OR_RETURN(const int half, Half(n));
  COX_ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

TEST(Result, HoldsAValue) {
  const Result<int> result = Half(8);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(result.value(), 4);
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(result.value_or(0), 4);
}

TEST(Result, HoldsAFailure) {
  const Result<int> result = Half(7);
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.status(), Status::Invalid("odd"));
  EXPECT_EQ(result.value_or(-1), -1);
}

TEST(Result, ConvertsImplicitlyToTheValueType) {
  const Result<std::string> text = "abc";
  EXPECT_EQ(text->size(), 3u);
  const Result<std::shared_ptr<const int>> shared = std::make_shared<int>(1);
  EXPECT_EQ(**shared, 1);
}

TEST(Result, SupportsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, ValueIsMutable) {
  Result<std::string> result = std::string("a");
  result->append("b");
  *result += "c";
  EXPECT_EQ(result.value(), "abc");
}

TEST(Result, MacrosReturnFailures) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(-4).status(), Status::BadRequest("negative"));
  EXPECT_EQ(Quarter(7).status(), Status::Invalid("odd")) << "from the first half";
  EXPECT_EQ(Quarter(6).status(), Status::Invalid("odd")) << "from the second";
}

}  // namespace
}  // namespace cox
