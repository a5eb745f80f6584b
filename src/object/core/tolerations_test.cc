// SPDX-License-Identifier: Apache-2.0
#include "object/core/tolerations.h"

#include <gtest/gtest.h>

namespace cox::core_rules {
namespace {

using core::v1::Taint;
using core::v1::Toleration;

TEST(TolerationsTest, Tolerates) {
  const Taint taint{.key = "k", .value = "v", .effect = "NoExecute"};
  const struct {
    Toleration toleration;
    bool tolerates;
  } kCases[] = {
      {{.key = "k", .operator_ = "Equal", .value = "v", .effect = "NoExecute"}, true},
      {{.key = "k", .value = "v"}, true},
      {{.key = "k", .value = "other"}, false},
      {{.key = "k", .operator_ = "Exists"}, true},
      {{.operator_ = "Exists"}, true},
      {{.key = "k", .operator_ = "Exists", .effect = "NoSchedule"}, false},
      {{.key = "other", .operator_ = "Exists"}, false},
      {{.key = "k", .operator_ = "Like", .value = "v"}, false},
      {{}, false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Tolerates(c.toleration, taint), c.tolerates)
        << c.toleration.key << " " << c.toleration.operator_;
  }
}

TEST(TolerationsTest, FindsTheFirstMatchingToleration) {
  const List<Toleration> tolerations = {
      {.key = "other", .operator_ = "Exists"},
      {.key = "k", .operator_ = "Exists", .effect = "NoExecute", .tolerationSeconds = 5},
      {.operator_ = "Exists", .effect = "NoExecute"}};
  EXPECT_EQ(FindToleration(tolerations, {.key = "k", .effect = "NoExecute"}), &tolerations[1]);
  EXPECT_EQ(FindToleration(tolerations, {.key = "l", .effect = "NoExecute"}), &tolerations[2]);
  EXPECT_EQ(FindToleration(tolerations, {.key = "k", .effect = "NoSchedule"}), nullptr);
  EXPECT_EQ(FindToleration({}, {.key = "k", .effect = "NoExecute"}), nullptr);
}

}  // namespace
}  // namespace cox::core_rules
