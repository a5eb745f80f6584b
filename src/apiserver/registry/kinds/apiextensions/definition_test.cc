// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiextensions/definition.h"

#include "apiserver/registry/kinds/apiextensions/schema_validation.h"
#include "apiserver/testing/recorded_creates.h"
#include "tests/paths/paths.h"

namespace cox::apiserver {
namespace {

const std::filesystem::path kScenarios =
    std::filesystem::path(test::SharedDirectory()) / "reference" / "scenarios";

using apiextensions::v1::CustomResourceDefinition;
using apiextensions::v1::JSONSchemaProps;

TEST(DefinitionTest, ErrorsMatchUpstreamScenarios) {
  // Excluded: errors that only a CEL compiler can find.
  const std::set<std::string> rules = {"cel-syntax",           "cel-type",         "cel-undeclared",
                                       "cel-oldself-in-array", "cel-message-cost", "cel-cost",
                                       "cel-message-expr-bad"};
  const int compared = CompareCreates(*NewCustomResourceDefinitionStrategy(),
                                      kScenarios / "crd/invalid.json", rules);
  if (compared == 0) GTEST_SKIP() << "no reference data";
  EXPECT_GT(compared, 60);
  for (const char* scenario : {"crud/customresourcedefinitions", "crd/lifecycle", "crd/apply",
                               "crd/cel", "crd/cluster-scoped", "crd/columns", "crd/defaulting",
                               "crd/scale", "crd/validation", "crd/versions"}) {
    CompareCreates(*NewCustomResourceDefinitionStrategy(),
                   kScenarios / (std::string(scenario) + ".json"));
  }
}

std::string SchemaErrors(std::string_view text) {
  Result<JSONSchemaProps> schema = json::Decode<JSONSchemaProps>(text);
  EXPECT_TRUE(schema.ok());
  FieldErrorList errors = ValidateSchema(*schema, FieldPath("s"));
  if (errors.empty()) errors = ValidateStructural(*schema, FieldPath("s"));
  if (errors.empty()) errors = ValidateSchemaDefaults(*schema, FieldPath("s"));
  return AggregateText(errors);
}

TEST(SchemaTest, MustBeStructuralAndConsistent) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,
           "anyOf":[{"type":"integer"},{"type":"string"}]}}})",
       ""},
      {R"({"type":"object","properties":{"a":{"type":"string"}},
           "anyOf":[{"required":["a"]},{"properties":{"a":{"pattern":"x"}}}]})",
       ""},
      {R"({"type":"object","anyOf":[{"properties":{"b":{"minLength":1}}}]})",
       "s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"},
      {R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})",
       "s.properties[a].items.type: Required value: must not be empty for specified array items"},
      {R"({"type":"object","properties":{"a":{"type":"object","default":{"b":"x"},
           "properties":{"b":{"type":"integer"}}}}})",
       "s.properties[a].default.b: Invalid value: \"string\":  in body must be of type integer: "
       "\"string\""},
      {R"({"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"z"}}})",
       "s.properties[a].default: Unsupported value: \"z\": supported values: \"x\", \"y\""},
      {R"({"type":"object","properties":{"kind":{"type":"integer"}}})",
       "s.properties[kind].type: Invalid value: \"integer\": must be string"},
      {R"({"type":"object","patternProperties":{"a":{"type":"string"}}})",
       "s.patternProperties: Forbidden: patternProperties is not supported"},
  };
  for (const auto& [schema, expected] : cases) EXPECT_EQ(SchemaErrors(schema), expected) << schema;
}

TEST(SchemaTest, RegexErrorsMatchGoTexts) {
  EXPECT_EQ(RegexError("^[a-z]+$"), "");
  EXPECT_EQ(RegexError("("), "error parsing regexp: missing closing ): `(`");
  EXPECT_EQ(RegexError("[a"), "error parsing regexp: missing closing ]: `[a`");
  EXPECT_EQ(RegexError("a**"), "error parsing regexp: invalid nested repetition operator: `**`");
}

TEST(DefinitionTest, ScopeIsImmutableOnceEstablishedAndStoredVersionsMustExist) {
  CustomResourceDefinition old;
  old.metadata.name = "bads.x.io";
  old.spec.group = "x.io";
  old.spec.scope = "Namespaced";
  old.spec.names = {.plural = "bads", .singular = "bad", .kind = "Bad", .listKind = "BadList"};
  old.spec.versions.push_back({.name = "v1", .served = true, .storage = true});
  old.spec.versions[0].schema = apiextensions::v1::CustomResourceValidation{};
  old.spec.versions[0].schema->openAPIV3Schema = JSONSchemaProps{.type = "object"};
  old.status.storedVersions = {"v1"};
  ASSERT_EQ(AggregateText(ValidateDefinition(old, nullptr)), "");

  CustomResourceDefinition changed = old;
  changed.spec.scope = "Cluster";
  EXPECT_EQ(AggregateText(ValidateDefinition(changed, &old)), "") << "nobody uses it yet";
  old.status.conditions.push_back({.type = "Established", .status = "True"});
  EXPECT_EQ(AggregateText(ValidateDefinition(changed, &old)),
            "spec.scope: Invalid value: \"Cluster\": field is immutable");
  changed = old;
  changed.spec.versions[0].name = "v2";
  EXPECT_EQ(AggregateText(ValidateDefinition(changed, &old)),
            "[status.storedVersions[0]: Invalid value: \"v1\": must appear in spec.versions, "
            "status.storedVersions: Invalid value: [\"v1\"]: must have the storage version v2]");
}

TEST(DefinitionTest, WarnsAboutUnknownFormats) {
  CustomResourceDefinition definition;
  definition.spec.versions.push_back({.name = "v1"});
  definition.spec.versions[0].schema = apiextensions::v1::CustomResourceValidation{};
  definition.spec.versions[0].schema->openAPIV3Schema = *json::Decode<JSONSchemaProps>(
      R"({"properties":{"a":{"format":"zzz"},"b":{"format":"date"}}})");
  EXPECT_EQ(WarnOnDefinition(definition), std::vector<std::string>{"unrecognized format \"zzz\""});
}

}  // namespace
}  // namespace cox::apiserver
