// SPDX-License-Identifier: Apache-2.0
#include "object/patch/strategic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "object/testing/case_file.h"
#include "object/testing/sample_types.h"
#include "object/type/limits.h"

namespace cox::patch {
namespace {

using ::testing::HasSubstr;

const Type& TypeNamed(std::string_view name) {
  if (name == "Pod") return core::v1::Pod::kType;
  if (name == "Service") return core::v1::Service::kType;
  if (name == "ConfigMap") return core::v1::ConfigMap::kType;
  if (name == "Deployment") return apps::v1::Deployment::kType;
  EXPECT_EQ(name, "");
  return SampleItemType();
}

Result<Value> Apply(const char* original, const char* patch) {
  return ApplyStrategicPatch(Json(original), Json(patch), SampleItemType());
}

Value Nested(std::string_view member, int depth) {
  Value value = Value::MakeObject();
  for (int i = 1; i < depth; ++i) {
    Value outer = Value::MakeObject();
    outer.as_object()[member] = std::move(value);
    value = std::move(outer);
  }
  return value;
}

TEST(StrategicPatch, AppliesLikeUpstream) {
  for (const Case& c : ReadCases("strategic.json")) {
    c.Expect(ApplyStrategicPatch(c["original"], c["patch"], SampleItemType()));
  }
}

TEST(StrategicPatch, CreatesTwoWayPatchesLikeUpstream) {
  for (const Case& c : ReadCases("strategic_two_way.json")) {
    c.Expect(CreateTwoWayStrategicPatch(c["original"], c["modified"], SampleItemType(),
                                        c.Preconditions()));
  }
}

TEST(StrategicPatch, CreatesThreeWayPatchesLikeUpstream) {
  for (const Case& c : ReadCases("strategic_three_way.json")) {
    auto preconditions = c.Preconditions();
    c.Expect(CreateThreeWayStrategicPatch(
        c["original"], c["modified"], c["current"], SampleItemType(),
        {.overwrite = c["overwrite"] == Value(true), .preconditions = preconditions}));
  }
}

TEST(StrategicPatch, PatchesBuiltInKindsLikeUpstream) {
  for (const Case& c : ReadCases("strategic_kinds.json")) {
    SCOPED_TRACE(c.Text("name"));
    const Type& type = TypeNamed(c.Text("type"));
    if (c.Text("op") == "strategic") {
      c.Expect(ApplyStrategicPatch(c["original"], c["patch"], type));
    } else if (c.Text("op") == "create2") {
      c.Expect(CreateTwoWayStrategicPatch(c["original"], c["modified"], type));
    } else {
      c.Expect(CreateThreeWayStrategicPatch(c["original"], c["modified"], c["current"], type));
    }
  }
}

TEST(StrategicPatch, CreatedPatchAppliedGivesTheModifiedObject) {
  for (const Case& c : ReadCases("strategic_kinds.json")) {
    if (c.Text("op") != "create2") continue;
    const Type& type = TypeNamed(c.Text("type"));
    Value patch = *CreateTwoWayStrategicPatch(c["original"], c["modified"], type);
    Result<Value> patched = ApplyStrategicPatch(c["original"], patch, type);
    ASSERT_TRUE(patched.ok()) << patched.status().ToString();
    EXPECT_EQ(*patched, c["modified"]) << c.Text("name");
  }
}

TEST(StrategicPatch, ErrorsHaveTheCodesOfTheApiServer) {
  struct {
    const char* original;
    const char* patch;
    Reason reason;
    int code;
  } cases[] = {
      {R"({"sub":{}})", R"({"sub":{"$retainKeys":"x"}})", Reason::kBadRequest, 400},
      {"{}", R"({"$setElementOrder":[]})", Reason::kBadRequest, 400},
      {"{}", R"({"$deleteFromPrimitiveList":[]})", Reason::kBadRequest, 400},
      {R"({"mergeItems":[[1]]})", R"({"mergeItems":[[2]]})", Reason::kInvalid, 422},
      {R"({"mergeItems":[{"name":"a"}]})", R"({"mergeItems":[{"value":"x"}]})", Reason::kUnknown,
       500},
      {"{}", R"({"$setElementOrder/mergeItems":"x"})", Reason::kUnknown, 500},
      {R"({"sub":{}})", R"({"sub":{"$patch":"explode"}})", Reason::kUnknown, 500},
      {R"({"foo":{}})", R"({"foo":{"a":1}})", Reason::kUnknown, 500},
  };
  for (const auto& c : cases) {
    Status status = Apply(c.original, c.patch).status();
    ASSERT_FALSE(status.ok()) << c.patch;
    EXPECT_EQ(status.reason(), c.reason) << c.patch;
    EXPECT_EQ(status.code(), c.code) << c.patch;
  }
}

TEST(StrategicPatch, RequiresObjects) {
  for (const char* patch : {"[]", "5", "\"a\"", "true"}) {
    Status status = Apply("{}", patch).status();
    EXPECT_TRUE(status.Is(Reason::kBadRequest));
    EXPECT_THAT(status.message(), HasSubstr("into Go value of type map[string]interface {}"));
  }
  EXPECT_EQ(*Apply(R"({"name":"a"})", "null"), Json(R"({"name":"a"})"));
  EXPECT_EQ(*Apply("null", R"({"name":"a"})"), Json(R"({"name":"a"})"));
  EXPECT_FALSE(CreateTwoWayStrategicPatch(Json("[]"), Json("{}"), SampleItemType()).ok());
}

// Upstream's result depends on Go's map iteration order, or it crashes.
TEST(StrategicPatch, IsDeterministicWhereUpstreamIsNot) {
  EXPECT_EQ(*Apply(R"({"mergeInts":[1,2,3]})",
                   R"({"$deleteFromPrimitiveList/mergeInts":[2,4],"mergeInts":[2,4]})"),
            Json(R"({"mergeInts":[1,3]})"));
  for (const char* patch : {
           R"({"$setElementOrder/mergeInts":[[2],1]})",
           R"({"$setElementOrder/mergeInts":[2,{"name":"x"}]})",
           R"({"$setElementOrder/replaceItems":[{"name":"a"}]})",
           R"({"$setElementOrder/replaceItems":[{"name":"a"}],"replaceItems":[{"name":"a"}]})",
           R"({"$setElementOrder/noKeyItems":[{"name":"a"}]})",
       }) {
    Status status =
        Apply(R"({"mergeInts":[1,2],"replaceItems":[{"name":"a"}],"noKeyItems":[{"name":"a"}]})",
              patch)
            .status();
    EXPECT_TRUE(status.Is(Reason::kBadRequest)) << patch;
    EXPECT_EQ(status.message(), "invalid patch format of setElementOrder list");
  }
  EXPECT_EQ(Apply(R"({"mergeInts":[null]})", R"({"mergeInts":[1]})").status().message(),
            "list element types are not identical: [[<nil>] [1]]");
}

TEST(StrategicPatch, MergesUnspecifiedTypesLikeJsonMergePatch) {
  const Type& open = SampleOpenType();
  struct {
    const char* original;
    const char* patch;
    const char* expected;
  } cases[] = {
      {R"({"any":{"a":{"b":1},"l":[1]}})", R"({"any":{"a":{"c":2},"l":[2]}})",
       R"({"any":{"a":{"b":1,"c":2},"l":[2]}})"},
      {R"({"any":{"a":{"b":1}}})", R"({"any":{"a":{"b":null}}})", R"({"any":{"a":{}}})"},
      {R"({"extra":{"a":{"b":1}}})", R"({"extra":{"a":{"c":[{"x":1}]}}})",
       R"({"extra":{"a":{"b":1,"c":[{"x":1}]}}})"},
      {R"({"extra":[1]})", R"({"extra":[2]})", R"({"extra":[2]})"},
      {R"({"any":[1]})", R"({"any":[2]})", R"({"any":[2]})"},
      {R"({"known":{"mergeInts":[1]}})", R"({"known":{"mergeInts":[2]}})",
       R"({"known":{"mergeInts":[2,1]}})"},
  };
  for (const auto& c : cases) {
    Result<Value> result = ApplyStrategicPatch(Json(c.original), Json(c.patch), open);
    ASSERT_TRUE(result.ok()) << c.patch << result.status().ToString();
    EXPECT_EQ(*result, Json(c.expected)) << c.patch;
  }
}

TEST(StrategicPatch, LimitsTheDepth) {
  Value deep = Nested("sub", limits::kMaxTypedDepth);
  EXPECT_EQ(*ApplyStrategicPatch(deep, deep, SampleItemType()), deep);
  EXPECT_TRUE(CreateTwoWayStrategicPatch(deep, deep, SampleItemType()).ok());
  EXPECT_TRUE(CreateThreeWayStrategicPatch(deep, deep, Value(), SampleItemType()).ok());
  for (const char* member : {"sub", "unknown", "simpleMap"}) {
    Value deeper = Nested(member, limits::kMaxTypedDepth + 1);
    Status status = ApplyStrategicPatch(deeper, deeper, SampleItemType()).status();
    EXPECT_TRUE(status.Is(Reason::kBadRequest));
    EXPECT_FALSE(CreateTwoWayStrategicPatch(Value(), deeper, SampleItemType()).ok());
    EXPECT_FALSE(CreateThreeWayStrategicPatch(Value(), Value(), deeper, SampleItemType()).ok());
  }
}

TEST(StrategicPatch, LargeListsTakeLessThanQuadraticTime) {
  constexpr int kItems = 50'000;
  Value::Array items;
  Value::Array order;
  Value::Array ints;
  for (int i = 0; i < kItems; ++i) {
    items.push_back(Value::MakeObject({{"name", std::to_string(i)}, {"value", "x"}}));
    order.push_back(Value::MakeObject({{"name", std::to_string(kItems - 1 - i)}}));
    ints.emplace_back(i);
  }
  Value doc = Value::MakeObject({{"mergeItems", items}, {"mergeInts", ints}});
  Value patch = doc;
  patch.as_object()["$deleteFromPrimitiveList/mergeInts"] = ints;
  ASSERT_TRUE(ApplyStrategicPatch(doc, patch, SampleItemType()).ok());
  Value reorder = Value::MakeObject({{"$setElementOrder/mergeItems", order}});
  Result<Value> reversed = ApplyStrategicPatch(doc, reorder, SampleItemType());
  ASSERT_TRUE(reversed.ok());
  EXPECT_EQ(*reversed->Find("mergeItems")->as_array()[0].Find("name"),
            Value(std::to_string(kItems - 1)));
  EXPECT_TRUE(CreateTwoWayStrategicPatch(doc, *reversed, SampleItemType()).ok());
}

TEST(StrategicPatch, ConflictsContainBothPatches) {
  Status status =
      CreateThreeWayStrategicPatch(Json(R"({"name":"a"})"), Json(R"({"name":"b"})"),
                                   Json(R"({"name":"c"})"), SampleItemType(), {.overwrite = false})
          .status();
  EXPECT_TRUE(status.Is(Reason::kConflict));
  EXPECT_EQ(
      status.message(),
      "patch:\nname: b\n\nconflicts with changes made from original to current:\nname: c\n\n");
}

TEST(StrategicPatch, ConflictsOnlyOnTheSameMember) {
  struct {
    const char* original;
    const char* modified;
    const char* current;
    bool conflict;
  } cases[] = {
      {R"({"name":"a"})", R"({"name":"b"})", R"({"name":"a","value":"x"})", false},
      {R"({"name":"a"})", R"({"name":"b"})", R"({"name":"b"})", false},
      {R"({"name":"a"})", R"({})", R"({"name":"c"})", true},
      {R"({"mergeInts":[1]})", R"({"mergeInts":[1,2]})", R"({"mergeInts":[1,3]})", false},
      {R"({"mergeInts":[1]})", R"({"mergeInts":[2]})", R"({"mergeInts":[3]})", false},
      {R"({"replaceInts":[1]})", R"({"replaceInts":[2]})", R"({"replaceInts":[3]})", true},
      {R"({"mergeItems":[{"name":"a","value":"1"}]})",
       R"({"mergeItems":[{"name":"a","value":"2"}]})",
       R"({"mergeItems":[{"name":"a","value":"3"}]})", true},
      {R"({"mergeItems":[{"name":"a","value":"1"}]})",
       R"({"mergeItems":[{"name":"a","value":"2"}]})",
       R"({"mergeItems":[{"name":"a","value":"1"},{"name":"b"}]})", false},
      {R"({"mergeItems":[{"name":"a","value":"1"}]})", R"({"mergeItems":[]})",
       R"({"mergeItems":[{"name":"a","value":"2"}]})", true},
      {R"({"mergeItems":[{"name":"a"}]})", R"({"mergeItems":[]})", R"({"mergeItems":[]})", false},
  };
  for (const auto& c : cases) {
    Result<Value> patch =
        CreateThreeWayStrategicPatch(Json(c.original), Json(c.modified), Json(c.current),
                                     SampleItemType(), {.overwrite = false});
    EXPECT_EQ(patch.ok(), !c.conflict) << c.modified << c.current << patch.status().ToString();
    if (c.conflict) {
      EXPECT_TRUE(patch.status().Is(Reason::kConflict));
    }
  }
}

TEST(StrategicPatch, PreconditionsProtectIdentity) {
  std::vector<Precondition> preconditions = {RequireKeyUnchanged("kind"),
                                             RequireMetadataKeyUnchanged("name")};
  const Type& type = core::v1::ConfigMap::kType;
  Value original = Json(R"({"kind":"ConfigMap","metadata":{"name":"a"}})");
  auto create = [&](const char* modified) {
    return CreateTwoWayStrategicPatch(original, Json(modified), type, preconditions);
  };
  EXPECT_TRUE(create(R"({"kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}}})").ok());
  EXPECT_EQ(create(R"({"kind":"Secret","metadata":{"name":"a"}})").status().message(),
            "precondition failed for: map[kind:Secret]");
  EXPECT_EQ(create(R"({"kind":"ConfigMap","metadata":{"name":"b"}})").status().message(),
            "precondition failed for: map[metadata:map[name:b]]");
}

}  // namespace
}  // namespace cox::patch
