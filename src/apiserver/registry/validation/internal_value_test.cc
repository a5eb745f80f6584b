// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/internal_value.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "api/policy/v1.h"
#include "api/rbac/v1.h"
#include "api/resource/v1.h"

namespace cox::apiserver {
namespace {

TEST(InternalValueTest, UsesGoFieldNamesAndOmitsNoMember) {
  rbac::v1::RoleRef ref{.apiGroup = "g", .kind = "Role", .name = "<r>"};
  EXPECT_EQ(InternalValue(ref).text(), R"({"APIGroup":"g","Kind":"Role","Name":"\u003cr\u003e"})");

  core::v1::Taint taint{.key = "a", .effect = "NoSchedule"};
  EXPECT_EQ(InternalValue(taint).text(),
            R"({"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null})");
}

TEST(InternalValueTest, WritesEmptyValuesAsNull) {
  resource::v1::ResourceClaimSpec spec;
  spec.devices.requests.push_back(
      {.name = "r",
       .exactly = resource::v1::ExactDeviceRequest{.deviceClassName = "c", .count = 1}});
  EXPECT_EQ(InternalValue(spec).text(),
            R"({"Devices":{"Requests":[{"Name":"r","Exactly":{"DeviceClassName":"c",)"
            R"("Selectors":null,"AllocationMode":"","Count":1,"AdminAccess":null,)"
            R"("Tolerations":null,"Capacity":null},"FirstAvailable":null}],)"
            R"("Constraints":null,"Config":null}})");
}

TEST(InternalValueTest, WritesMetaTypesAsOnTheWire) {
  policy::v1::PodDisruptionBudgetSpec spec;
  spec.minAvailable = 1;
  spec.selector.ensure().matchLabels["app"] = "a";
  EXPECT_EQ(InternalValue(spec).text(),
            R"({"MinAvailable":1,"Selector":{"matchLabels":{"app":"a"}},)"
            R"("MaxUnavailable":null,"UnhealthyPodEvictionPolicy":null})");
}

}  // namespace
}  // namespace cox::apiserver
