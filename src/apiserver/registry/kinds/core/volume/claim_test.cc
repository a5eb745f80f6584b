// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/volume/indent_json.h"
#include "apiserver/registry/kinds/core/volume/strategy.h"
#include "apiserver/registry/validation/text_diff.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

std::string With(std::string_view spec) {
  return R"({"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],)"
         R"("resources":{"requests":{"storage":"1Gi"}})" +
         std::string(spec) + "}}";
}

TEST(ClaimTest, RequiresAccessModesAndSize) {
  const CreateCase cases[] = {
      {"",
       "[spec.accessModes: Required value: at least 1 access mode is required, "
       "spec.resources[storage]: Required value]"},
      {R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"0"}}})",
       R"(spec.resources[storage]: Invalid value: "0": must be greater than zero)"},
      {R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}},)"
       R"("volumeMode":"X"})",
       R"(spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem")"},
  };
  StrategyHarness claims(NewPersistentVolumeClaimStrategy());
  ExpectCreate(claims, cases);
}

TEST(ClaimTest, MakesDataSourcesConsistent) {
  StrategyHarness claims(NewPersistentVolumeClaimStrategy());
  auto made = [&](std::string_view spec) { return claims.Create(With("," + std::string(spec))); };
  auto copied = made(R"("dataSource":{"kind":"PersistentVolumeClaim","name":"x"})");
  EXPECT_NE(copied.Text().find(
                R"("dataSourceRef":{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"x"})"),
            std::string::npos)
      << copied.Text();
  auto dropped = made(R"("dataSource":{"kind":"Pod","name":"x"})");
  EXPECT_EQ(dropped.error, "");
  EXPECT_EQ(dropped.Text().find("dataSource"), std::string::npos);
  EXPECT_EQ(made(R"("dataSource":{"apiGroup":"x","kind":"K","name":"n"},
                    "dataSourceRef":{"apiGroup":"y","kind":"K","name":"n"})")
                .error,
            "spec: Invalid value: {}: must match dataSourceRef");
  EXPECT_EQ(
      made(R"("dataSourceRef":{"kind":"Pod","name":"n"})").error,
      R"([spec.dataSource: Invalid value: "Pod": must be 'PersistentVolumeClaim' when )"
      R"(referencing the default apiGroup, spec.dataSourceRef: Invalid value: "Pod": must be )"
      "'PersistentVolumeClaim' when referencing the default apiGroup]");
}

TEST(ClaimTest, SpecIsImmutableExceptForBindingAndExpansion) {
  StrategyHarness claims(NewPersistentVolumeClaimStrategy());
  Object made = claims.Create(With(R"(,"storageClassName":"s")")).object;
  const std::string refusal =
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims\n";
  auto error = [&](std::string_view spec) {
    return claims.Update(made, R"({"spec":)" + std::string(spec) + "}").error;
  };
  constexpr std::string_view kGrow = R"({"resources":{"requests":{"storage":"2Gi"}}})";
  EXPECT_EQ(
      error(kGrow),
      refusal +
          "@@ -6,7 +6,7 @@\n  \"Resources\": {\n   \"Limits\": null,\n   \"Requests\": {\n-   "
          "\"storage\": \"1Gi\"\n+   \"storage\": \"2Gi\"\n   }\n  },\n  \"VolumeName\": "
          "\"\",\n");
  EXPECT_EQ(error(R"({"volumeName":"v"})"), "");
  EXPECT_EQ(
      error(R"({"selector":{"matchLabels":{"a":"b"}}})"),
      refusal +
          "@@ -2,7 +2,11 @@\n  \"AccessModes\": [\n   \"ReadWriteOnce\"\n  ],\n- "
          "\"Selector\": null,\n+ \"Selector\": {\n+  \"matchLabels\": {\n+   \"a\": "
          "\"b\"\n+  }\n+ },\n  \"Resources\": {\n   \"Limits\": null,\n   \"Requests\": {\n");

  auto& claim = *made.As<core::v1::PersistentVolumeClaim>();
  claim.spec.volumeName = "v";
  claim.status.phase = "Bound";
  claim.status.capacity["storage"] = *Quantity::Parse("1Gi");
  EXPECT_EQ(error(kGrow), "");
  EXPECT_EQ(error(R"({"resources":{"requests":{"storage":"500Mi"}}})"),
            "spec.resources.requests.storage: Forbidden: field can not be less than "
            "status.capacity");
  EXPECT_NE(error(R"({"volumeName":"w"})").find("\"VolumeName\": \"w\""), std::string::npos);
}

TEST(ClaimTest, DefaultClassCanBeSetLater) {
  StrategyHarness claims(NewPersistentVolumeClaimStrategy());
  const Object made = claims.Create(With("")).object;
  EXPECT_EQ(claims.Update(made, R"({"spec":{"storageClassName":"s"}})").error, "");
  const Object none = claims.Create(With(R"(,"storageClassName":"")")).object;
  EXPECT_NE(claims.Update(none, R"({"spec":{"storageClassName":"s"}})").error, "");
}

TEST(ClaimTest, ShowsBoundVolumeInTable) {
  StrategyHarness claims(NewPersistentVolumeClaimStrategy());
  Object made = claims.Create(With(R"(,"storageClassName":"s")")).object;
  EXPECT_EQ(claims.Row(made),
            R"(["a","Pending","","","","s","\u003cunset\u003e","60m","Filesystem"])");
  auto bound = claims.Update(made, R"({"spec":{"volumeName":"v"}})");
  EXPECT_EQ(claims.Row(bound.object),
            R"(["a","Pending","v","0","","s","\u003cunset\u003e","60m","Filesystem"])");
  auto status = claims.Update(
      bound.object,
      R"({"status":{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}}})",
      "status");
  EXPECT_EQ(status.error, "");
  EXPECT_EQ(claims.Row(status.object),
            R"(["a","Bound","v","1Gi","RWO","s","\u003cunset\u003e","60m","Filesystem"])");
  EXPECT_EQ(claims.Update(made, R"({"status":{"capacity":{"storage":"-1"}}})", "status").error,
            "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity");
}

TEST(ImmutableDiffTest, ShowsChangesWithThreeLinesOfContext) {
  EXPECT_EQ(UnifiedDiff("a\nb", "a\nb"), "");
  EXPECT_EQ(UnifiedDiff("a", "b"), "@@ -1 +1 @@\n-a\n+b\n");
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
  // Distant changes make two hunks. The range before an insertion is empty.
  EXPECT_EQ(UnifiedDiff("a\n1\n2\n3\n4\n5\n6\n7\nb", "1\n2\n3\n4\n5\n6\n7\nb\nc"),
            "@@ -1,4 +1,3 @@\n-a\n 1\n 2\n 3\n@@ -7,3 +6,4 @@\n 6\n 7\n b\n+c\n");
}

TEST(ImmutableDiffTest, CostIsBoundedIfAllLinesDiffer) {
  std::string before, after;
  for (int i = 0; i < 20'000; ++i) {
    before += "x" + std::to_string(i) + "\n";
    after += "y" + std::to_string(i) + "\n";
  }
  const std::string diff = UnifiedDiff(before, after);
  EXPECT_TRUE(diff.starts_with("@@ -1,20001 +1,20001 @@\n-x0\n")) << diff.substr(0, 50);
}

TEST(ImmutableDiffTest, JsonIsIndentedByOneSpace) {
  EXPECT_EQ(IndentJson(R"({"a":null,"b":[1,{}],"c":{"d":"x,{\"y"},"e":[]})"),
            "{\n \"a\": null,\n \"b\": [\n  1,\n  {}\n ],\n \"c\": {\n  \"d\": \"x,{\\\"y\"\n },\n "
            "\"e\": []\n}");
}

}  // namespace
}  // namespace cox::apiserver
