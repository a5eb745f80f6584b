// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/scheduling/v1.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

StrategyPtr NewPriorityClassStrategy() {
  std::vector<StrategyPtr> kinds;
  AddSchedulingKinds(&kinds);
  return std::move(kinds.front());
}

TEST(PriorityClassTest, UserValuesMustBeBelowSystemValues) {
  StrategyHarness classes(NewPriorityClassStrategy());
  const CreateCase cases[] = {
      {R"("value":1000000000)", ""},
      {R"("value":1000000001)",
       "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
      {R"("value":5,"preemptionPolicy":"X")",
       "preemptionPolicy: Unsupported value: \"X\": supported values: \"PreemptLowerPriority\", "
       "\"Never\""},
  };
  ExpectCreate(classes, cases);
}

TEST(PriorityClassTest, SystemNamesAreReserved) {
  StrategyHarness classes(NewPriorityClassStrategy());
  const std::string prefix =
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
      "system "
      "use only. error: ";
  EXPECT_EQ(
      classes.Create(R"({"metadata":{"name":"system-node-critical"},"value":2000001000})").error,
      "");
  EXPECT_EQ(classes.Create(R"({"metadata":{"name":"system-x"},"value":5})").error,
            prefix + "system-x is not a known system priority class");
  EXPECT_EQ(classes.Create(R"({"metadata":{"name":"system-node-critical"},"value":5})").error,
            prefix + "value of system-node-critical PriorityClass must be 2000001000");
}

TEST(PriorityClassTest, ValueAndPreemptionPolicyAreImmutable) {
  StrategyHarness classes(NewPriorityClassStrategy());
  auto made = classes.Create(R"({"metadata":{"name":"a"},"value":5})");
  EXPECT_EQ(made.Text(), R"({"preemptionPolicy":"PreemptLowerPriority","value":5})");
  EXPECT_EQ(made.object.object_meta()->generation, 1);
  EXPECT_EQ(classes.Update(made.object, R"({"value":6})").error,
            "value: Forbidden: may not be changed in an update.");
  EXPECT_EQ(classes.Update(made.object, R"({"preemptionPolicy":"Never"})").error,
            "preemptionPolicy: Invalid value: \"Never\": field is immutable");
  auto updated = classes.Update(made.object, R"({"description":"d","globalDefault":true})");
  EXPECT_EQ(updated.error, "");
  EXPECT_EQ(updated.object.object_meta()->generation, 1);
  EXPECT_EQ(classes.Row(updated.object), R"(["a",5,true,"60m","PreemptLowerPriority"])");
}

}  // namespace
}  // namespace cox::apiserver
