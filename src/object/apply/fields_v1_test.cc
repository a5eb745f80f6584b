// SPDX-License-Identifier: Apache-2.0
#include "object/apply/fields_v1.h"

#include <gtest/gtest.h>

#include "object/testing/test_schema.h"
#include "object/type/limits.h"

namespace cox::apply {
namespace {

TEST(FieldsV1Test, RoundTripsTheEncodingOfKubernetes) {
  struct {
    std::string_view in, out;
  } const cases[] = {
      {"{}", "{}"},
      {"null", "{}"},
      {R"({"f:b":{},"f:a":{".":{},"f:c":{}}})", R"({"f:a":{".":{},"f:c":{}},"f:b":{}})"},
      {R"({"k:{\"b\":1,\"a\":2}":{}})", R"({"k:{\"a\":2,\"b\":1}":{}})"},
      {R"({"i:1":{},"i:0":{},"v:null":{},"v:{\"a\":1}":{},"v:[1]":{},"v:true":{},"v:\"a\"":{},)"
       R"("v:1.5":{},"v:1":{},"k:{\"a\":1}":{},"f:z":{}})",
       R"({"f:z":{},"k:{\"a\":1}":{},"v:1":{},"v:1.5":{},"v:\"a\"":{},"v:true":{},"v:[1]":{},)"
       R"("v:{\"a\":1}":{},"v:null":{},"i:0":{},"i:1":{}})"},
      {R"({"k:{\"port\":8080}":{},"k:{\"port\":80}":{}})",
       R"({"k:{\"port\":80}":{},"k:{\"port\":8080}":{}})"},
      {R"({"f:":{}})", R"({"f:":{}})"},
      {R"({".":{},"f:a":{}})", R"({"f:a":{}})"},
      {R"({"f:a":{".":{}}})", R"({"f:a":{}})"},
      {R"({"f:a":null})", R"({"f:a":{}})"},
      {R"({"f:a":{".":1}})", R"({"f:a":{}})"},
      {R"({"x:a":{},"f:a":{"x:b":{}}})", R"({"f:a":{}})"},
      {R"({"v:1.0":{},"v:1":{"f:x":{}}})", R"({"v:1":{".":{},"f:x":{}}})"},
      {R"({"i:-1":{}})", R"({"i:-1":{}})"},
      {R"({"v:\"<é\"":{}})", R"({"v:\"\\u003cé\"":{}})"},
  };
  for (const auto& c : cases) {
    Result<FieldSet> set = ReadFieldsV1(c.in);
    ASSERT_TRUE(set.ok()) << c.in << set.status().ToString();
    EXPECT_EQ(WriteFieldsV1(*set), c.out);
    Result<FieldSet> again = FieldsV1FromValue(FieldsV1ToValue(*set));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, *set) << c.in;
  }
}

// Found by fuzzing: a large double is encoded as an integer that is a different number.
TEST(FieldsV1Test, LargeNumbersRoundTrip) {
  Result<FieldSet> set =
      ReadFieldsV1(R"({"f:c":{"v:55555555555555550.550":{},"k:{\"a\":1e17}":{},"v:[9.3e15]":{}}})");
  ASSERT_TRUE(set.ok());
  Result<FieldSet> again = ReadFieldsV1(WriteFieldsV1(*set));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(*again == *set) << WriteFieldsV1(*set);
}

TEST(FieldsV1Test, RejectsMalformedInput) {
  for (std::string_view in :
       {"", "[]", "1", "{", R"({"f":{}})", R"({"":{}})", R"({"f:a":1})", R"({"f:a":[]})",
        R"({"f:a":"x"})", R"({"i:x":{}})", R"({"i:":{}})", R"({"i:99999999999999999999":{}})",
        R"({"k:x":{}})", R"({"k:[]":{}})", R"({"v:x":{}})", R"({"v:":{}})", R"({"fa":{}})"}) {
    EXPECT_FALSE(ReadFieldsV1(in).ok()) << in;
  }
}

TEST(FieldsV1Test, DepthIsLimited) {
  auto nested = [](int depth) {
    std::string json;
    for (int i = 0; i < depth; ++i) json += R"({"f:a":)";
    return json + "{}" + std::string(static_cast<size_t>(depth), '}');
  };
  EXPECT_TRUE(ReadFieldsV1(nested(limits::kMaxTypedDepth)).ok());
  EXPECT_FALSE(ReadFieldsV1(nested(limits::kMaxTypedDepth + 1)).ok());
}

}  // namespace
}  // namespace cox::apply
