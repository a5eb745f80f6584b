// SPDX-License-Identifier: Apache-2.0
#include "base/suggestion.h"

#include <gtest/gtest.h>

namespace cox {
namespace {

constexpr std::string_view kNames[] = {"apiserver", "controller-manager", "up", "kubelet"};

TEST(SuggestionTest, ReturnsTheClosestName) {
  EXPECT_EQ(ClosestName("apisever", kNames), "apiserver");
  EXPECT_EQ(ClosestName("kubeelt", kNames), "kubelet");
  EXPECT_EQ(ClosestName("controler-manger", kNames), "controller-manager");
  EXPECT_EQ(ClosestName("upp", kNames), "up");
}

TEST(SuggestionTest, IsEmptyWithoutACloseName) {
  EXPECT_EQ(ClosestName("frobnicate", kNames), "");
  EXPECT_EQ(ClosestName("", kNames), "");
  EXPECT_EQ(ClosestName("x", kNames), "");
  EXPECT_EQ(ClosestName("kubctl", kNames), "");
  EXPECT_EQ(ClosestName(std::string(10'000, 'a'), kNames), "");
  EXPECT_EQ(ClosestName("kubelet", {}), "");
}

}  // namespace
}  // namespace cox
