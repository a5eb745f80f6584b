// SPDX-License-Identifier: Apache-2.0
#include "object/patch/merge_patch.h"

#include <gtest/gtest.h>

#include "object/patch/depth.h"
#include "object/testing/case_file.h"
#include "object/type/limits.h"

namespace cox::patch {
namespace {

Value Nested(int depth) {
  Value value = Value::MakeObject();
  for (int i = 1; i < depth; ++i) {
    Value outer = Value::MakeObject();
    outer.as_object()["a"] = std::move(value);
    value = std::move(outer);
  }
  return value;
}

TEST(MergePatch, AppliesLikeUpstream) {
  for (const Case& c : ReadCases("merge_patch.json")) {
    c.Expect(ApplyMergePatch(c["original"], c["patch"]));
  }
}

TEST(MergePatch, RequiresAnObject) {
  for (const char* patch : {"null", "[]", "5", "\"a\"", "true"}) {
    Status status = ApplyMergePatch(Json("{}"), Json(patch)).status();
    EXPECT_TRUE(status.Is(Reason::kBadRequest)) << patch;
    EXPECT_EQ(status.message(), "Invalid JSON Patch") << patch;
  }
}

TEST(MergePatch, IsIdempotent) {
  for (const Case& c : ReadCases("merge_patch.json")) {
    Result<Value> once = ApplyMergePatch(c["original"], c["patch"]);
    if (!once.ok()) continue;
    Result<Value> twice = ApplyMergePatch(*once, c["patch"]);
    ASSERT_TRUE(twice.ok());
    EXPECT_EQ(*once, *twice);
  }
}

TEST(MergePatch, DeepDocumentsNeedNoStack) {
  Value deep = Nested(limits::kMaxDepth);
  Result<Value> merged = ApplyMergePatch(Json("{}"), deep);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(DepthOf(*merged), limits::kMaxDepth);
  EXPECT_EQ(*ApplyMergePatch(deep, deep), deep);
}

TEST(CreateMergePatch, AgreesWithUpstream) {
  for (const Case& c : ReadCases("merge_create.json")) {
    c.Expect(CreateMergePatch(c["original"], c["modified"]));
  }
}

TEST(CreateMergePatch, AppliedGivesTheModifiedDocument) {
  for (const Case& c : ReadCases("strategic.json")) {
    if (!c["expected"].is_object()) continue;
    Result<Value> patch = CreateMergePatch(c["original"], c["expected"]);
    ASSERT_TRUE(patch.ok());
    // Nulls in the modified document cannot be expressed: remove them by applying it to {}.
    Value wanted = *ApplyMergePatch(Json("{}"), c["expected"]);
    if (wanted != c["expected"] || !c["original"].is_object()) continue;
    EXPECT_EQ(*ApplyMergePatch(c["original"], *patch), wanted);
  }
}

TEST(CreateMergePatch, RejectsNonObjectsAndDeepDocuments) {
  for (const char* other : {"[]", "[{}]", "5", "\"a\""}) {
    EXPECT_EQ(CreateMergePatch(Json(other), Json("{}")).status().message(),
              "Invalid JSON Document");
    EXPECT_EQ(CreateMergePatch(Json("{}"), Json(other)).status().message(),
              "Invalid JSON Document");
  }
  EXPECT_TRUE(CreateMergePatch(Json("{}"), Nested(limits::kMaxTypedDepth)).ok());
  Status deep = CreateMergePatch(Json("{}"), Nested(limits::kMaxTypedDepth + 1)).status();
  EXPECT_TRUE(deep.Is(Reason::kBadRequest));
}

TEST(CreateThreeWayMergePatch, AgreesWithUpstream) {
  for (const Case& c : ReadCases("merge_three_way.json")) {
    c.Expect(
        CreateThreeWayMergePatch(c["original"], c["modified"], c["current"], c.Preconditions()));
  }
}

}  // namespace
}  // namespace cox::patch
