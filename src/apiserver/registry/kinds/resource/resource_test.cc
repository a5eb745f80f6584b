// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/resource/v1.h"
#include "apiserver/registry/kinds/resource/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

constexpr const char* kClaim =
    R"({"metadata":{"name":"a"},"spec":{"devices":{"requests":[
        {"name":"r","exactly":{"deviceClassName":"d.example.com"}},
        {"name":"f","firstAvailable":[{"name":"x","deviceClassName":"d.example.com"}]}]}}})";

TEST(ResourceClaimTest, DefaultsToOneDevice) {
  StrategyHarness claims(NewResourceClaimStrategy());
  auto made = claims.Create(kClaim);
  EXPECT_EQ(made.error, "");
  const auto& requests = made.object.As<resource::v1::ResourceClaim>()->spec.devices.requests;
  EXPECT_EQ(requests[0].exactly->allocationMode, "ExactCount");
  EXPECT_EQ(requests[0].exactly->count, 1);
  EXPECT_EQ(requests[1].firstAvailable[0].count, 1);
  EXPECT_EQ(claims.Row(made.object), R"(["a","pending","60m"])");
}

TEST(ResourceClaimTest, ValidatesRequests) {
  StrategyHarness claims(NewResourceClaimStrategy());
  struct Case {
    std::string_view devices, error;
  } cases[] = {
      {R"("requests":[{"name":"r"}])",
       "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is "
       "required"},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":""}}])",
       "spec.devices.requests[0].exactly.deviceClassName: Required value"},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":"d","allocationMode":"X"}}])",
       "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"X\": supported "
       "values: \"All\", \"ExactCount\""},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":"d","count":-1}}])",
       "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":"d","allocationMode":"All",
          "count":2}}])",
       "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when "
       "allocationMode is 'All'"},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":"d"},
          "firstAvailable":[{"name":"a","deviceClassName":"x"}]}])",
       "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or "
       "`firstAvailable` is required, but multiple fields are set"},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":"d","selectors":[{}]}}])",
       "spec.devices.requests[0].exactly.selectors[0].cel: Required value"},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":"d"}}],
          "constraints":[{"requests":["nope"],"matchAttribute":"x"}])",
       "[spec.devices.constraints[0].requests[0]: Invalid value: \"nope\": must be the name of a "
       "request in the claim or the name of a request and a subrequest separated by '/', "
       "spec.devices.constraints[0].matchAttribute: Invalid value: \"x\": a fully qualified name "
       "must be a domain and a name separated by a slash]"},
      {R"("requests":[{"name":"r","exactly":{"deviceClassName":"d"}}],
          "config":[{"requests":["r"],"opaque":{"driver":"d.example.com","parameters":[]}}])",
       "spec.devices.config[0].opaque.parameters: Invalid value: \"<value omitted>\": must be a "
       "valid JSON object"},
  };
  for (const Case& c : cases) {
    std::string text = R"({"metadata":{"name":"a"},"spec":{"devices":{)";
    EXPECT_EQ(claims.Create(text + std::string(c.devices) + "}}}").error, c.error) << c.devices;
  }
}

TEST(ResourceClaimTest, SpecIsImmutable) {
  StrategyHarness claims(NewResourceClaimStrategy());
  Object old = claims.Create(kClaim).object;
  EXPECT_EQ(claims.Update(old, R"({"spec":{"devices":{"requests":null}}})").error,
            "spec: Invalid value: {\"Devices\":{\"Requests\":null,\"Constraints\":null,"
            "\"Config\":null}}: field is immutable");
  EXPECT_EQ(claims.Update(old, R"({"metadata":{"labels":{"a":"b"}}})").error, "");
}

TEST(ResourceClaimTest, OnlyAllocatedClaimsCanBeReserved) {
  StrategyHarness claims(NewResourceClaimStrategy());
  Object old = claims.Create(kClaim).object;
  constexpr std::string_view kReserve =
      R"({"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}})";
  EXPECT_EQ(claims.Update(old, kReserve, "status").error,
            "status.reservedFor: Forbidden: may not be specified when `allocated` is not set");
  auto allocated = claims.Update(old, R"({"status":{"allocation":{"devices":{"results":[
      {"request":"f/x","driver":"d.example.com","pool":"p","device":"gpu"}]}}}})",
                                 "status");
  EXPECT_EQ(allocated.error, "");
  auto reserved = claims.Update(allocated.object, kReserve, "status");
  EXPECT_EQ(reserved.error, "");
  EXPECT_EQ(claims.Row(reserved.object), R"(["a","allocated,reserved","60m"])");
  EXPECT_EQ(claims
                .Update(reserved.object, R"({"status":{"devices":[
                {"driver":"d.example.com","pool":"p","device":"other"}]}})",
                        "status")
                .error,
            "status.devices[0]: Invalid value: \"d.example.com/p/other\": must be an allocated "
            "device in the claim");
  reserved.object.object_meta()->deletionTimestamp = Time::FromUnix(1);
  reserved.object.object_meta()->deletionGracePeriodSeconds = 0;
  EXPECT_EQ(claims
                .Update(reserved.object, R"({"status":{"reservedFor":[
                {"resource":"pods","name":"q","uid":"v"}]}})",
                        "status")
                .error,
            "status.reservedFor: Forbidden: new entries may not be added while "
            "`deallocationRequested` or `deletionTimestamp` are set");
}

TEST(ResourceClaimTemplateTest, IsValidatedLikeClaimAndImmutable) {
  StrategyHarness templates(NewResourceClaimTemplateStrategy());
  auto made = templates.Create(R"({"metadata":{"name":"a"},"spec":{"spec":{"devices":{"requests":[
      {"name":"r","exactly":{"deviceClassName":"d"}}]}}}})");
  EXPECT_EQ(made.error, "");
  EXPECT_TRUE(templates.Update(made.object, R"({"spec":{"spec":{"devices":null}}})")
                  .error.ends_with("field is immutable"));
  EXPECT_EQ(templates
                .Create(R"({"metadata":{"name":"a"},"spec":{"spec":{"devices":{"requests":[
                        {"name":"r"}]}}}})")
                .error,
            "spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or "
            "`firstAvailable` is required");
}

TEST(DeviceClassTest, ValidatesSpecAndCountsGeneration) {
  StrategyHarness classes(NewDeviceClassStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"selectors":[{"cel":{"expression":"true"}}],
          "extendedResourceName":"example.com/gpu"})",
       ""},
      {R"("spec":{"selectors":[{}]})", "spec.selectors[0].cel: Required value"},
      {R"("spec":{"config":[{}]})", "spec.config[0].opaque: Required value"},
      {R"("spec":{"extendedResourceName":"a b"})",
       "spec.extendedResourceName: Invalid value: \"a b\": must be a valid extended resource name"},
  };
  ExpectCreate(classes, cases);
  Object old = classes.Create(R"({"metadata":{"name":"a"}})").object;
  EXPECT_EQ(old.object_meta()->generation, 1);
  auto changed = classes.Update(old, R"({"spec":{"selectors":[{"cel":{"expression":"true"}}]}})");
  EXPECT_EQ(changed.object.object_meta()->generation, 2);
}

TEST(ResourceSliceTest, ValidatesPoolNodeSelectionAndDevices) {
  StrategyHarness slices(NewResourceSliceStrategy());
  struct Case {
    std::string_view spec, error;
  } cases[] = {
      {R"("nodeName":"n","devices":[{"name":"a","attributes":{"model":{"string":"x"},
          "example.com/v":{"version":"1.2.3-rc.1+b"}},"capacity":{"memory":{"value":"8Gi"}}}])",
       ""},
      {"",
       "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
       "`perDeviceNodeSelection` is required"},
      {R"("nodeName":"n","allNodes":true)",
       "spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, "
       "`nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are "
       "set"},
      {R"("nodeName":"n","devices":[{"name":"a"},{"name":"a"}])",
       "spec.devices[1]: Duplicate value: \"a\""},
      {R"("nodeName":"n","devices":[{"name":"a","attributes":{"x":{}}}])",
       "spec.devices[0].attributes[x]: Invalid value: \"\": exactly one value must be specified"},
      {R"("nodeName":"n","devices":[{"name":"a","attributes":{"x":{"string":"a","int":1}}}])",
       "spec.devices[0].attributes[x]: Invalid value: {\"IntValue\":1,\"BoolValue\":null,"
       "\"StringValue\":\"a\",\"VersionValue\":null,\"IntValues\":null,\"BoolValues\":null,"
       "\"StringValues\":null,\"VersionValues\":null}: exactly one value must be specified"},
      {R"("nodeName":"n","devices":[{"name":"a","attributes":{"x":{"version":"1.2"}}}])",
       "spec.devices[0].attributes[x].version: Invalid value: \"1.2\": must be a string compatible "
       "with semver.org spec 2.0.0"},
      {R"("perDeviceNodeSelection":true,"devices":[{"name":"a","nodeName":"n"}])", ""},
  };
  for (const Case& c : cases) {
    std::string text = R"({"metadata":{"name":"a"},"spec":{"driver":"d.example.com",
        "pool":{"name":"p","generation":1,"resourceSliceCount":1})";
    if (!c.spec.empty()) text += ",";
    EXPECT_EQ(slices.Create(text + std::string(c.spec) + "}}").error, c.error) << c.spec;
  }
  EXPECT_EQ(slices.Create(R"({"metadata":{"name":"a"},"spec":{"nodeName":"n"}})").error,
            "[spec.driver: Required value, spec.pool.name: Required value, "
            "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero]");
}

TEST(ResourceSliceTest, NodeDriverAndPoolAreImmutable) {
  StrategyHarness slices(NewResourceSliceStrategy());
  auto made = slices.Create(R"({"metadata":{"name":"a"},"spec":{"driver":"UP","nodeName":"n",
      "pool":{"name":"p","generation":1,"resourceSliceCount":1}}})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.warnings,
            Warnings{"spec.driver: driver names should be lowercase; \"UP\" contains "
                     "uppercase characters"});
  EXPECT_EQ(slices.Row(made.object), R"(["a","n","UP","p","60m"])");
  EXPECT_EQ(
      slices.Update(made.object, R"({"spec":{"nodeName":"m","driver":"d","pool":{"name":"q"}}})")
          .error,
      "[spec.nodeName: Invalid value: \"m\": field is immutable, spec.driver: Invalid value: "
      "\"d\": field is immutable, spec.pool.name: Invalid value: \"q\": field is immutable]");
}

}  // namespace
}  // namespace cox::apiserver
