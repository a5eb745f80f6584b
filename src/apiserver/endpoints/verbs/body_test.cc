// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/body.h"

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"
#include "object/type/limits.h"

namespace cox::apiserver {
namespace {

class BodyTest : public ::testing::Test {
 protected:
  FakeCall With(std::string body, std::string type = "application/json") {
    return FakeCall(clock_, {.method = "POST",
                             .target = "/api/v1/namespaces/ns/configmaps",
                             .body = std::move(body),
                             .headers = {{"content-type", std::move(type)}}});
  }
  // The name of the decoded ConfigMap, or the error.
  std::string Decode(FakeCall& call, FieldValidation validation) {
    Result<Object> object = DecodeBody(*call, core::v1::ConfigMap::kKind, validation);
    return object.ok() ? object->object_meta()->name : object.status().message();
  }
  std::string Decode(std::string body, FieldValidation validation = FieldValidation::kStrict,
                     std::string type = "application/json") {
    FakeCall call = With(std::move(body), std::move(type));
    return Decode(call, validation);
  }

  TestClock clock_;
};

TEST_F(BodyTest, DecodesJsonYamlAndProtobuf) {
  EXPECT_EQ(Decode(R"({"metadata":{"name":"a"}})"), "a");
  EXPECT_EQ(Decode(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})"), "a");
  EXPECT_EQ(Decode("metadata:\n  name: yam\n", FieldValidation::kStrict, "application/yaml"),
            "yam");
  core::v1::ConfigMap map;
  map.metadata.name = "p";
  std::string bytes;
  EncodeObject(Object::Of(map), Format::kProtobuf, &bytes);
  EXPECT_EQ(Decode(bytes, FieldValidation::kStrict, "application/vnd.kubernetes.protobuf"), "p");
}

TEST_F(BodyTest, DecodingErrorsHaveUpstreamsTexts) {
  const struct {
    std::string_view body, want;
  } kCases[] = {
      {R"({"kind":"Pod","apiVersion":"v1"})",
       "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to "
       "(core.ConfigMap): unknown conversion"},
      {R"({"kind":"Nope","apiVersion":"v1"})",
       "Nope in version \"v1\" cannot be handled as a ConfigMap: no kind \"Nope\" is registered "
       "for version \"v1\" in scheme \"coxswain/scheme\""},
      {R"({"metadata":{"name":"a"},"zzz":1})",
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
       "unknown field \"zzz\""},
      {R"({"metadata":{"name":"a","name":"b"}})",
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
       "duplicate field \"metadata.name\""},
  };
  for (const auto& c : kCases) EXPECT_EQ(Decode(std::string(c.body)), c.want) << c.body;
}

TEST_F(BodyTest, ErrorContainsTheStartOfAnUnparsableBody) {
  const std::string unrecognized =
      "the object provided is unrecognized (must be of type ConfigMap): ";
  const std::string broken = Decode("{\"metadata\": this is no JSON at all, it is prose");
  EXPECT_TRUE(broken.starts_with(unrecognized)) << broken;
  EXPECT_TRUE(broken.ends_with("({\"metadata\": this is no JSON a ...)")) << broken;
  // A body that does not start like JSON is shown in hex.
  const std::string binary = Decode("\x01\x02");
  EXPECT_TRUE(binary.ends_with("(0102)")) << binary;
}

TEST_F(BodyTest, ProtobufErrorsHaveUpstreamsTexts) {
  const std::string unrecognized =
      "the object provided is unrecognized (must be of type ConfigMap): ";
  const std::string type = "application/vnd.kubernetes.protobuf";
  EXPECT_EQ(Decode("", FieldValidation::kWarn, type), unrecognized + "empty data (<empty>)");
  EXPECT_EQ(Decode("nope", FieldValidation::kWarn, type),
            unrecognized +
                "provided data does not appear to be a protobuf message, expected prefix [107 56 "
                "115 0] (6e6f7065)");
  core::v1::ConfigMap map;
  map.metadata.name = "p";
  std::string bytes;
  EncodeObject(Object::Of(map), Format::kProtobuf, &bytes);
  const std::string cut = Decode(bytes.substr(0, bytes.size() / 2), FieldValidation::kWarn, type);
  EXPECT_TRUE(cut.starts_with(unrecognized + "unexpected EOF (6b387300")) << cut;
  bytes.clear();
  Object nope(core::v1::ConfigMap::kKind, GroupVersionKind{"", "v1", "Nope"});
  EncodeObject(nope, Format::kProtobuf, &bytes);
  EXPECT_EQ(Decode(bytes, FieldValidation::kWarn, type),
            "Nope in version \"v1\" cannot be handled as a ConfigMap: no kind \"Nope\" is "
            "registered for version \"v1\" in scheme \"coxswain/scheme\"");
}

TEST_F(BodyTest, UnknownFieldsCauseWarningsOrAreIgnored) {
  const std::string body = R"({"metadata":{"name":"a"},"zzz":1})";
  FakeCall warned = With(body);
  EXPECT_EQ(Decode(warned, FieldValidation::kWarn), "a");
  warned->RespondText(200, "");
  EXPECT_EQ(warned.exchange().Header("warning"), R"(299 - "unknown field \"zzz\"")");
  FakeCall ignored = With(body);
  EXPECT_EQ(Decode(ignored, FieldValidation::kIgnore), "a");
  ignored->RespondText(200, "");
  EXPECT_EQ(ignored.exchange().Header("warning"), "");
}

TEST_F(BodyTest, BodyAboveTheLimitIsTooLarge) {
  FakeCall call = With(std::string(limits::kMaxBodyBytes + 1, ' '));
  EXPECT_EQ(ReadBody(*call).status().code(), 413);
  EXPECT_EQ(DecodeBody(*call, core::v1::ConfigMap::kKind, FieldValidation::kWarn).status().code(),
            413);
  FakeCall just = With(std::string(limits::kMaxBodyBytes, ' '));
  EXPECT_TRUE(ReadBody(*just).ok());
}

TEST_F(BodyTest, UnknownContentTypesAreUnsupported) {
  FakeCall call = With("{}", "text/plain");
  EXPECT_EQ(DecodeBody(*call, core::v1::ConfigMap::kKind, FieldValidation::kWarn).status().code(),
            415);
  EXPECT_EQ(ReadPatchType(*call).status().message(), "415: Unsupported Media Type");
  FakeCall merge = With("{}", "application/merge-patch+json");
  EXPECT_EQ(*ReadPatchType(*merge), patch::PatchType::kMerge);
}

}  // namespace
}  // namespace cox::apiserver
