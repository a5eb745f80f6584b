// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/coordination/v1.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

StrategyPtr NewLeaseStrategy() {
  std::vector<StrategyPtr> kinds;
  AddCoordinationKinds(&kinds);
  return std::move(kinds.front());
}

TEST(LeaseTest, ValidatesNumbers) {
  StrategyHarness leases(NewLeaseStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"holderIdentity":"","leaseDurationSeconds":1,"leaseTransitions":0})", ""},
      {R"("spec":{"leaseDurationSeconds":0,"leaseTransitions":-1})",
       "[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, "
       "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]"},
  };
  ExpectCreate(leases, cases);
}

TEST(LeaseTest, DropsFieldsOfCoordinatedLeaderElection) {
  StrategyHarness leases(NewLeaseStrategy());
  auto made = leases.Create(R"({"metadata":{"name":"a"},
      "spec":{"holderIdentity":"h","strategy":"X","preferredHolder":"y"}})");
  EXPECT_EQ(made.Text(), R"({"spec":{"holderIdentity":"h"}})");
  EXPECT_EQ(leases.Update(made.object, R"({"spec":{"preferredHolder":"y"}})").Text(),
            R"({"spec":{"holderIdentity":"h"}})");
  EXPECT_EQ(leases.Row(made.object), R"(["a","h","60m"])");
}

TEST(LeaseTest, AllowsCreateOnUpdateButNoUnconditionalUpdate) {
  StrategyPtr lease = NewLeaseStrategy();
  EXPECT_TRUE(lease->AllowCreateOnUpdate());
  EXPECT_FALSE(lease->AllowUnconditionalUpdate());
}

}  // namespace
}  // namespace cox::apiserver
