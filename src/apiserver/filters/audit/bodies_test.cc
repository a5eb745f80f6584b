// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/bodies.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "object/codec.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

Object ConfigMap() {
  core::v1::ConfigMap map;
  map.metadata.name = "m";
  map.metadata.managedFields.push_back({.manager = "me"});
  map.data["k"] = "v\nw";
  return Object::Of(std::move(map));
}

std::vector<Bytes> Encoded(Format format) {
  std::string text;
  EncodeObject(ConfigMap(), format, &text);
  return {Bytes(text.substr(0, 10)), Bytes(text.substr(10))};
}

TEST(AuditBodiesTest, ResponsesOfEveryFormatBecomeJsonOnOneLine) {
  for (Format format : {Format::kJson, Format::kYaml, Format::kProtobuf}) {
    const std::string json = AuditedResponse(MediaType(format), Encoded(format), false);
    EXPECT_EQ(json.find('\n'), std::string::npos) << json;
    const Result<Value> value = json::Parse(json);
    ASSERT_TRUE(value.ok()) << MediaType(format) << ": " << json;
    EXPECT_EQ(value->Find("kind")->as_string(), "ConfigMap");
    EXPECT_EQ(value->At({"data", "k"})->as_string(), "v\nw");
    EXPECT_NE(value->At({"metadata", "managedFields"}), nullptr);
  }
  EXPECT_EQ(AuditedResponse("application/json", {Bytes(std::string("{\n  \"a\": 1\n}\n"))}, false),
            R"({"a":1})");
  EXPECT_EQ(AuditedResponse("text/plain", {Bytes(std::string("ok"))}, false), "");
}

TEST(AuditBodiesTest, ManagedFieldsAreOmittedAtEveryLevel) {
  for (Format format : {Format::kJson, Format::kProtobuf}) {
    EXPECT_EQ(AuditedResponse(MediaType(format), Encoded(format), true).find("managedFields"),
              std::string::npos);
  }
  EXPECT_EQ(AuditedObject(ConfigMap(), true).find("managedFields"), std::string::npos);
  EXPECT_NE(AuditedObject(ConfigMap(), false).find("managedFields"), std::string::npos);
  const std::string nested =
      R"({"items":[{"metadata":{"managedFields":[1]}}],"rows":[{"object":{"metadata":{"managedFields":[]}}}]})";
  EXPECT_EQ(AuditedResponse("application/json", {Bytes(nested)}, true),
            R"({"items":[{"metadata":{}}],"rows":[{"object":{"metadata":{}}}]})");
}

TEST(AuditBodiesTest, PatchesMayBeYaml) {
  EXPECT_EQ(AuditedPatch("{ \"a\" : [1, 2] }"), R"({"a":[1,2]})");
  EXPECT_EQ(AuditedPatch("a:\n- 1\n"), R"({"a":[1]})");
  EXPECT_EQ(AuditedPatch("{"), "");
}

}  // namespace
}  // namespace cox::apiserver
