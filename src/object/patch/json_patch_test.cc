// SPDX-License-Identifier: Apache-2.0
#include "object/patch/json_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/patch/depth.h"
#include "object/testing/case_file.h"
#include "object/type/limits.h"

namespace cox::patch {
namespace {

Result<Value> Patched(const char* document, std::string_view patch) {
  Result<JsonPatch> parsed = ParseJsonPatch(patch);
  if (!parsed.ok()) return parsed.status();
  return ApplyJsonPatch(Json(document), *parsed);
}

TEST(JsonPatch, AgreesWithUpstream) {
  for (const Case& c : ReadCases("json_patch.json")) {
    Result<JsonPatch> patch = DecodeJsonPatch(c["patch"]);
    ASSERT_TRUE(patch.ok()) << patch.status().ToString();
    Result<Value> result = ApplyJsonPatch(c["original"], *patch);
    c.Expect(result);
    if (!result.ok()) {
      EXPECT_TRUE(result.status().Is(Reason::kInvalid));
    }
  }
}

TEST(JsonPatch, TestOperationComparesValuesNotText) {
  for (const char* patch : {
           R"([{"op":"test","path":"/s","value":"\u0061<"}])",
           R"([{"op":"test","path":"/i","value":1.0}])",
           R"([{"op":"test","path":"/i","value":1e0}])",
           R"([{"op":"test","path":"/l","value":[null,{"b":2,"a":1}]}])",
           R"([{"op":"test","path":"","value":{"i":1,"l":[null,{"a":1,"b":2}],"s":"a\u003c"}}])",
       }) {
    EXPECT_TRUE(Patched(R"({"s":"a<","i":1,"l":[null,{"a":1,"b":2}]})", patch).ok()) << patch;
  }
  // 2^53 and 2^53 + 1 are equal as doubles but different numbers.
  EXPECT_FALSE(Patched(R"({"i":9007199254740993})",
                       R"([{"op":"test","path":"/i","value":9007199254740992}])")
                   .ok());
}

TEST(JsonPatch, OperationsOnTheRootFailWithoutCrash) {
  // The library that upstream uses crashes on the first two.
  EXPECT_EQ(Patched("{}", R"([{"op":"replace","path":""}])").status().message(),
            "replace operation value must be object or array");
  EXPECT_EQ(Patched("{}", R"([{"op":"test","path":""}])").status().message(),
            "testing value  failed: test failed");
  EXPECT_FALSE(Patched("null", R"([{"op":"add","path":"/a","value":1}])").ok());
  EXPECT_FALSE(Patched("5", "[]").ok());
}

TEST(JsonPatch, RejectsInvalidBodies) {
  struct {
    const char* body;
    const char* error;
  } cases[] = {
      {"", "error decoding patch: unexpected end of JSON input"},
      {R"([{"op":)", "error decoding patch: unexpected end of JSON input"},
      {"{}",
       "error decoding patch: json: cannot unmarshal object into Go value of type "
       "[]handlers.jsonPatchOp"},
      {"\"x\"",
       "error decoding patch: json: cannot unmarshal string into Go value of type "
       "[]handlers.jsonPatchOp"},
      {"[5]",
       "error decoding patch: json: cannot unmarshal number into Go value of type "
       "handlers.jsonPatchOp"},
      {"[[]]",
       "error decoding patch: json: cannot unmarshal array into Go value of type "
       "handlers.jsonPatchOp"},
      {R"([{"op":5}])",
       "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of "
       "type string"},
      {R"([{"op":"add"},{"from":true}])",
       "error decoding patch: json: cannot unmarshal bool into Go struct field jsonPatchOp.from of "
       "type string"},
      {R"([{"path":{}}])",
       "error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.path "
       "of type string"},
  };
  for (const auto& c : cases) {
    Result<JsonPatch> patch = ParseJsonPatch(c.body);
    ASSERT_FALSE(patch.ok()) << c.body;
    EXPECT_TRUE(patch.status().Is(Reason::kBadRequest)) << c.body;
    EXPECT_EQ(patch.status().message(), c.error);
  }
}

TEST(JsonPatch, NullPatchIsEmptyAndNullOperationIsUnknown) {
  EXPECT_TRUE(Patched(R"({"a":1})", "null").ok());
  EXPECT_EQ(Patched(R"({"a":1})", "[null]").status().message(), "Unexpected kind: unknown");
}

TEST(JsonPatch, ReportsUnknownAndDuplicateFields) {
  json::Strictness strict;
  ASSERT_TRUE(ParseJsonPatch(R"([{"op":"add","path":"/a","path":"/b","value":{"a":1,"a":2},"foo":1},
                                {"OP":"x"}])",
                             &strict)
                  .ok());
  EXPECT_THAT(strict.errors, ::testing::UnorderedElementsAre(
                                 "duplicate field \"[0].path\"", "duplicate field \"[0].value.a\"",
                                 "unknown field \"[0].foo\"", "unknown field \"[1].OP\""));
}

TEST(JsonPatch, LimitsTheNumberOfOperations) {
  auto patch_of = [](size_t count) {
    Value::Array operations(count, Json(R"({"op":"test","path":"/a","value":1})"));
    return DecodeJsonPatch(Value(std::move(operations)));
  };
  EXPECT_TRUE(patch_of(limits::kMaxJsonPatchOperations).ok());
  Status refused = patch_of(limits::kMaxJsonPatchOperations + 1).status();
  EXPECT_TRUE(refused.Is(Reason::kRequestEntityTooLarge));
  EXPECT_EQ(
      refused.message(),
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got "
      "10001");
}

TEST(JsonPatch, BoundsTheBytesCopied) {
  Value doc = Value::MakeObject({{"a", std::string(1'000'000, 'x')}});
  JsonPatch copies(3, {.op = "copy", .path = "/b", .from = "/a", .value = {}});
  EXPECT_TRUE(ApplyJsonPatch(doc, copies).ok());
  copies.push_back(copies.back());
  EXPECT_EQ(ApplyJsonPatch(doc, copies).status().message(),
            "Unable to complete the copy, the accumulated size increase of copy is 4000008, "
            "exceeding the limit 3145728");
}

TEST(JsonPatch, LimitsTheDepth) {
  // Copying an object into its own innermost object doubles its depth each time.
  Value doc = Json(R"({"a":{}})");
  std::string innermost = "/a";
  JsonPatch patch;
  for (int i = 0; i < 16; ++i) {
    patch.push_back({.op = "copy", .path = innermost + "/a", .from = "/a", .value = {}});
    innermost += innermost;
  }
  Status refused = ApplyJsonPatch(doc, patch).status();
  EXPECT_EQ(refused.message(), "error while adding value during copy: exceeded max depth");

  patch.resize(10);
  Result<Value> deep = ApplyJsonPatch(doc, patch);
  ASSERT_TRUE(deep.ok());
  EXPECT_EQ(DepthOf(*deep), (1 << 10) + 1);
}

TEST(JsonPatch, ManyMovesDoNotExceedTheDepthLimit) {
  Value doc = Json(R"({"a":{"b":{"c":1}},"d":{}})");
  JsonPatch patch;
  for (int i = 0; i < 5'000; ++i) {
    patch.push_back({.op = "move", .path = "/d/a", .from = "/a", .value = {}});
    patch.push_back({.op = "move", .path = "/a", .from = "/d/a", .value = {}});
  }
  Result<Value> result = ApplyJsonPatch(doc, patch);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(*result, doc);
}

TEST(JsonPatch, IsAllOrNothing) {
  Value doc = Json(R"({"a":1})");
  JsonPatch patch = *ParseJsonPatch(
      R"([{"op":"add","path":"/b","value":2},{"op":"test","path":"/a","value":9}])");
  EXPECT_FALSE(ApplyJsonPatch(doc, patch).ok());
  EXPECT_EQ(doc, Json(R"({"a":1})"));
}

}  // namespace
}  // namespace cox::patch
