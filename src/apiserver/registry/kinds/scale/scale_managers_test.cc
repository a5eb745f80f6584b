// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/scale/scale_managers.h"

#include "object/apply/managed_fields.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

apply::Managers Parse(std::string_view entries) {
  Result<apply::Managers> managers = apply::DecodeManagedFields(*json::Parse(entries));
  EXPECT_TRUE(managers.ok()) << managers.status().message();
  return managers.value_or(apply::Managers());
}
std::string Text(const apply::Managers& managers) {
  return json::Write(apply::EncodeManagedFields(managers));
}

constexpr std::string_view kWorkload = R"([
  {"manager":"kubectl","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1",
   "fieldsV1":{"f:spec":{"f:replicas":{},"f:paused":{}}}},
  {"manager":"tool","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1",
   "fieldsV1":{"f:spec":{"f:replicas":{}}}},
  {"manager":"other","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1",
   "fieldsV1":{"f:spec":{"f:minReadySeconds":{}}}}])";

TEST(ScaleManagersTest, OnlyOwnersOfReplicasBecomeManagersOfScale) {
  EXPECT_EQ(Text(ToScaleManagers(Parse(kWorkload), "apps/v1")), Text(Parse(R"([
      {"manager":"kubectl","operation":"Apply","apiVersion":"autoscaling/v1",
       "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
      {"manager":"tool","operation":"Update","apiVersion":"autoscaling/v1",
       "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])")));
}

TEST(ScaleManagersTest, ConversionToScaleAndBackKeepsManagers) {
  const apply::Managers workload = Parse(kWorkload);
  EXPECT_EQ(FromScaleManagers(workload, ToScaleManagers(workload, "apps/v1"), "apps/v1"), workload);
}

TEST(ScaleManagersTest, NewOwnerOfScaleTakesReplicasFromOthers) {
  const apply::Managers scale = Parse(R"([
      {"manager":"hpa","operation":"Update","apiVersion":"autoscaling/v1","subresource":"scale",
       "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])");
  EXPECT_EQ(Text(FromScaleManagers(Parse(kWorkload), scale, "apps/v1")), Text(Parse(R"([
      {"manager":"kubectl","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1",
       "fieldsV1":{"f:spec":{"f:paused":{}}}},
      {"manager":"other","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1",
       "fieldsV1":{"f:spec":{"f:minReadySeconds":{}}}},
      {"manager":"hpa","operation":"Update","apiVersion":"apps/v1","subresource":"scale",
       "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])")));
}

TEST(ScaleManagersTest, NoManagersOfScaleMeansNoOwnerOfReplicas) {
  const apply::Managers after = FromScaleManagers(Parse(kWorkload), {}, "apps/v1");
  EXPECT_TRUE(ToScaleManagers(after, "apps/v1").empty());
  EXPECT_EQ(after.size(), 2u);
}

}  // namespace
}  // namespace cox::apiserver
