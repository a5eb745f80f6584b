// SPDX-License-Identifier: Apache-2.0
#include "object/patch/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "object/testing/case_file.h"

namespace cox::patch {
namespace {

using ::testing::ElementsAre;

constexpr char kConfigMap[] =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","b":"2"}})";

TEST(PatchType, IsDetectedByMediaType) {
  for (PatchType type :
       {PatchType::kJson, PatchType::kMerge, PatchType::kStrategic, PatchType::kApply}) {
    EXPECT_EQ(PatchTypeOf(MediaType(type)), type);
    EXPECT_EQ(PatchTypeOf(std::string(MediaType(type)) + "; charset=utf-8"), type);
  }
  EXPECT_EQ(MediaType(PatchType::kStrategic), "application/strategic-merge-patch+json");
  for (const char* other :
       {"", "application/json", "text/plain", "application/yaml", "application/json-patch",
        "application/apply-patch+json", "application/apply-patch+cbor",
        "APPLICATION/MERGE-PATCH+JSON", "application/vnd.kubernetes.protobuf"}) {
    EXPECT_FALSE(PatchTypeOf(other).has_value()) << other;
  }
}

TEST(ApplyPatch, ReturnsTheErrorsOfTheApiServer) {
  constexpr char kRejected[] = "the server rejected our request due to an error in our request";
  struct {
    PatchType type;
    const char* body;
    int code;
    const char* message;
  } cases[] = {
      {PatchType::kJson, R"([{"op":"add","path":"/nope/x","value":"v"}])", 422, kRejected},
      {PatchType::kJson, R"([{"op":"test","path":"/data/a","value":"8"}])", 422, kRejected},
      {PatchType::kJson, R"([{"op":"move","from":"/data/z","path":"/data/q"}])", 422, kRejected},
      {PatchType::kJson, R"([{"op":"frobnicate","path":"/data/a"}])", 422, kRejected},
      {PatchType::kJson, R"([{"op":"add","value":"x"}])", 422, kRejected},
      {PatchType::kJson, "", 400, "error decoding patch: unexpected end of JSON input"},
      {PatchType::kJson, R"({"data":{}})", 400,
       "error decoding patch: json: cannot unmarshal object into Go value of type "
       "[]handlers.jsonPatchOp"},
      {PatchType::kMerge, "[]", 400,
       "error decoding patch: json: cannot unmarshal array into Go value of type "
       "map[string]interface {}"},
      {PatchType::kMerge, "\"a\"", 400,
       "error decoding patch: json: cannot unmarshal string into Go value of type "
       "map[string]interface {}"},
      {PatchType::kMerge, "5", 400,
       "error decoding patch: json: cannot unmarshal number into Go value of type "
       "map[string]interface {}"},
      {PatchType::kMerge, "null", 400, "Invalid JSON Patch"},
      {PatchType::kMerge, R"({"a":)", 400, "error decoding patch: unexpected end of JSON input"},
      {PatchType::kStrategic, "{", 400, "unexpected end of JSON input"},
      {PatchType::kStrategic, "[]", 400,
       "json: cannot unmarshal array into Go value of type map[string]interface {}"},
      {PatchType::kStrategic, R"({"metadata":{"$setElementOrder/finalizers":"x"}})", 500,
       "expected a []interface {}, but received a string"},
      {PatchType::kStrategic, R"({"metadata":{"$retainKeys":"x"}})", 400,
       "invalid patch format of retainKeys"},
  };
  for (const auto& c : cases) {
    Status status = Apply(c.type, Json(kConfigMap), c.body, core::v1::ConfigMap::kType).status();
    EXPECT_EQ(status.code(), c.code) << c.body;
    EXPECT_EQ(status.message(), c.message) << c.body;
  }
}

TEST(ApplyPatch, AppliesEachPatchType) {
  struct {
    PatchType type;
    const char* body;
    const char* data;
  } cases[] = {
      {PatchType::kJson, R"([{"op":"replace","path":"/data/a","value":"9"}])",
       R"({"a":"9","b":"2"})"},
      {PatchType::kJson, R"([{"op":"remove","path":"/data/b"}])", R"({"a":"1"})"},
      {PatchType::kJson, "[]", R"({"a":"1","b":"2"})"},
      {PatchType::kMerge, R"({"data":{"a":null,"c":"3"}})", R"({"b":"2","c":"3"})"},
      {PatchType::kMerge, "{}", R"({"a":"1","b":"2"})"},
      {PatchType::kStrategic, R"({"data":{"$patch":"replace","c":"3"}})", R"({"c":"3"})"},
      {PatchType::kStrategic, "null", R"({"a":"1","b":"2"})"},
  };
  for (const auto& c : cases) {
    Result<Value> patched = Apply(c.type, Json(kConfigMap), c.body, core::v1::ConfigMap::kType);
    ASSERT_TRUE(patched.ok()) << c.body << patched.status().ToString();
    EXPECT_EQ(*patched->Find("data"), Json(c.data)) << c.body;
    EXPECT_EQ(*patched->Find("kind"), Value("ConfigMap"));
  }
  EXPECT_FALSE(Apply(PatchType::kApply, Json(kConfigMap), "{}", core::v1::ConfigMap::kType).ok());
}

TEST(ApplyPatch, ReportsDuplicateFields) {
  for (PatchType type : {PatchType::kMerge, PatchType::kStrategic}) {
    json::Strictness strict;
    ASSERT_TRUE(Apply(type, Json(kConfigMap), R"({"data":{"d":"1","d":"2"}})",
                      core::v1::ConfigMap::kType, &strict)
                    .ok());
    EXPECT_THAT(strict.errors, ElementsAre("duplicate field \"data.d\""));
  }
}

TEST(ApplyTo, PatchesStructs) {
  apps::v1::Deployment web;
  web.metadata.name = "web";
  web.spec.replicas = 1;
  web.spec.template_.spec.containers = {{.name = "a"}, {.name = "b"}};
  Result<apps::v1::Deployment> patched = ApplyTo(
      PatchType::kStrategic, web,
      R"({"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"b","image":"b:2"}]}}}})");
  ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  EXPECT_EQ(patched->metadata.name, "web");
  EXPECT_EQ(patched->spec.replicas, 3);
  ASSERT_EQ(patched->spec.template_.spec.containers.size(), 2u);
  EXPECT_EQ(patched->spec.template_.spec.containers[0].image, "");
  EXPECT_EQ(patched->spec.template_.spec.containers[1].image, "b:2");
}

TEST(ApplyTo, ReportsUnknownFields) {
  json::Strictness strict;
  Result<core::v1::ConfigMap> patched =
      ApplyTo(PatchType::kMerge, core::v1::ConfigMap{}, R"({"nope":1,"data":{"a":"b"}})", &strict);
  ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  EXPECT_THAT(strict.errors, ElementsAre("unknown field \"nope\""));
  EXPECT_FALSE(ApplyTo(PatchType::kMerge, core::v1::ConfigMap{}, R"({"data":{"a":5}})").ok());
}

}  // namespace
}  // namespace cox::patch
