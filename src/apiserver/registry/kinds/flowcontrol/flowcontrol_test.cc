// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/flowcontrol/v1.h"
#include "apiserver/registry/kinds/flowcontrol/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(FlowSchemaTest, ValidatesSpec) {
  StrategyHarness schemas(NewFlowSchemaStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"priorityLevelConfiguration":{"name":"l"}})", ""},
      {"", "spec.priorityLevelConfiguration.name: Required value: must reference a priority level"},
      {R"("spec":{"priorityLevelConfiguration":{"name":"l"},"matchingPrecedence":20000})",
       "spec.matchingPrecedence: Invalid value: 20000: must not be greater than 10000"},
      {R"("spec":{"priorityLevelConfiguration":{"name":"l"},"matchingPrecedence":1})",
       "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have "
       "matchingPrecedence 1"},
      {R"("spec":{"priorityLevelConfiguration":{"name":"l"},"distinguisherMethod":{"type":"X"}})",
       "spec.distinguisherMethod.type: Unsupported value: {\"Type\":\"X\"}: supported values: "
       "\"ByNamespace\", \"ByUser\""},
  };
  ExpectCreate(schemas, cases);
}

TEST(FlowSchemaTest, ValidatesRules) {
  StrategyHarness schemas(NewFlowSchemaStrategy());
  struct Case {
    std::string_view rule, error;
  } cases[] = {
      {R"({"subjects":[{"kind":"ServiceAccount","serviceAccount":{"namespace":"n","name":"*"}}],
           "resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],
                             "clusterScope":true}],
           "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/","/a/*"]}]})",
       ""},
      {"{}",
       "[spec.rules[0].subjects: Required value: subjects must contain at least one value, "
       "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to "
       "be "
       "non-empty]"},
      {R"({"subjects":[{"kind":"User"}],"nonResourceRules":[{"verbs":["get"],
           "nonResourceURLs":["x"]}]})",
       "[spec.rules[0].subjects[0].user: Required value: user is required when subject kind is "
       "'User', spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"x\": must "
       "start with slash]"},
      {R"({"subjects":[{"kind":"Group","group":{"name":"g"},"user":{"name":"u"}}],
           "nonResourceRules":[{"verbs":["*","get"],"nonResourceURLs":["/a*"]}]})",
       "[spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not "
       "'User', spec.rules[0].nonResourceRules[0].verbs: Invalid value: [\"*\",\"get\"]: if '*' is "
       "present, must not specify other verbs, "
       "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"/a*\": wildcard can "
       "only do suffix matching]"},
      {R"({"subjects":[{"kind":"Group","group":{"name":"g"}}],
           "resourceRules":[{"verbs":["get"],"apiGroups":["*"],"resources":["*"]}]})",
       "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not "
       "cluster scoped must supply at least one namespace"},
  };
  for (const Case& c : cases) {
    std::string text = R"({"metadata":{"name":"a"},"spec":{"priorityLevelConfiguration":
                           {"name":"l"},"rules":[)";
    EXPECT_EQ(schemas.Create(text + std::string(c.rule) + "]}}").error, c.error) << c.rule;
  }
}

TEST(FlowSchemaTest, MandatorySchemasAreImmutable) {
  StrategyHarness schemas(NewFlowSchemaStrategy());
  flowcontrol::v1::FlowSchema exempt;
  exempt.metadata.name = "exempt";
  exempt.spec = *MandatoryFlowSchema("exempt");
  std::string text = json::Encode(exempt);
  EXPECT_EQ(schemas.Create(text).error, "");
  exempt.spec.rules.clear();
  EXPECT_TRUE(schemas.Create(json::Encode(exempt))
                  .error.ends_with("spec of 'exempt' must equal the fixed value"));
}

TEST(FlowSchemaTest, GenerationCountsSpecChangesAndStatusUpdateKeepsMetadata) {
  StrategyHarness schemas(NewFlowSchemaStrategy());
  auto made = schemas.Create(
      R"({"metadata":{"name":"a"},"spec":{"priorityLevelConfiguration":{"name":"l"}}})");
  EXPECT_EQ(schemas.Row(made.object), R"(["a","l",1000,"\u003cnone\u003e","60m","?"])");
  auto changed = schemas.Update(made.object, R"({"spec":{"matchingPrecedence":7}})");
  EXPECT_EQ(changed.object.object_meta()->generation, 2);
  auto status = schemas.Update(changed.object, R"({"metadata":{"labels":{"x":"y"}},"status":
      {"conditions":[{"type":"Dangling","status":"False"}]}})",
                               "status");
  EXPECT_EQ(status.error, "");
  EXPECT_TRUE(status.object.object_meta()->labels.empty());
  EXPECT_EQ(status.object.object_meta()->generation, 2);
  EXPECT_EQ(schemas.Row(status.object), R"(["a","l",7,"\u003cnone\u003e","60m","False"])");
}

TEST(PriorityLevelTest, SetsDefaults) {
  StrategyHarness levels(NewPriorityLevelConfigurationStrategy());
  auto made = levels.Create(R"({"metadata":{"name":"a"},"spec":{"type":"Limited",
      "limited":{"limitResponse":{"type":"Queue","queuing":{}}}}})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.Text(), R"({"spec":{"limited":{"lendablePercent":0,"limitResponse":{"queuing":)"
                         R"({"handSize":8,"queueLengthLimit":50,"queues":64},"type":"Queue"},)"
                         R"("nominalConcurrencyShares":30},"type":"Limited"},"status":{}})");
  EXPECT_EQ(levels.Row(made.object), R"(["a","Limited",30,64,8,50,"60m"])");
}

TEST(PriorityLevelTest, ValidatesSpec) {
  StrategyHarness levels(NewPriorityLevelConfigurationStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"type":"X"})",
       "spec.type: Unsupported value: \"X\": supported values: \"Exempt\", \"Limited\""},
      {R"("spec":{"type":"Exempt","limited":{"limitResponse":{"type":"Reject"}}})",
       "[spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt', "
       "spec.limited: Forbidden: must be nil if the type is not Limited]"},
      {R"("spec":{"type":"Limited"})",
       "spec.limited: Required value: must not be empty when type is Limited"},
      {R"("spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue"}}})",
       "spec.limited.limitResponse.queuing: Required value: must not be empty if "
       "limited.limitResponse.type is Limited"},
      {R"("spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"},
          "lendablePercent":101,"borrowingLimitPercent":-1}})",
       "[spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive, "
       "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a "
       "non-negative "
       "integer]"},
      {R"("spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue",
          "queuing":{"queues":4,"handSize":5}}}})",
       "spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than "
       "queues (4)"},
      {R"("spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue",
          "queuing":{"queues":512,"handSize":8}}}})",
       "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of "
       "deckSize 512 and handSize 8 should not be greater than 60"},
  };
  ExpectCreate(levels, cases);
}

}  // namespace
}  // namespace cox::apiserver
