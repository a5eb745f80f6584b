// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/batch/job_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/batch/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "j", "namespace": "default"},
  "spec": {"template": {"spec": {"restartPolicy": "Never",
                                 "containers": [{"name": "c", "image": "app:1"}]}}}
})";
constexpr std::string_view kUid = "11111111-2222-3333-4444-555555555555";

StrategyTester Tester() { return {NewJobStrategy(), kBase}; }

TEST(JobValidation, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  const std::string kNegative = ": Invalid value: -1: must be greater than or equal to 0";
  const std::string kPolicies = R"(spec.template.spec.restartPolicy: Required value: )"
                                R"(valid values: "OnFailure", "Never")";
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       {R"({"spec": {"template": {"spec": {"restartPolicy": null}}}})", {kPolicies}},
       {R"({"spec": {"template": {"spec": {"restartPolicy": "Always"}}}})", {kPolicies}},
       {R"({"spec": {"parallelism": -1, "completions": -1, "activeDeadlineSeconds": -1,
                     "backoffLimit": -1, "ttlSecondsAfterFinished": -1}})",
        {"spec.parallelism" + kNegative, "spec.completions" + kNegative,
         "spec.activeDeadlineSeconds" + kNegative, "spec.backoffLimit" + kNegative,
         "spec.ttlSecondsAfterFinished" + kNegative}},
       {R"({"spec": {"completionMode": "X"}})",
        {R"(spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed")"}},
       {R"({"spec": {"completionMode": "Indexed", "parallelism": 200000}})",
        {"spec.completions: Required value: when completion mode is Indexed",
         "spec.parallelism: Invalid value: 200000: must be less than or equal to 100000 when "
         "completion mode is Indexed"}},
       {R"({"spec": {"backoffLimitPerIndex": 1}})",
        {"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"}},
       {R"({"spec": {"completionMode": "Indexed", "completions": 3, "maxFailedIndexes": 4}})",
        {"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
         "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"}},
       {R"({"spec": {"completionMode": "Indexed", "completions": 200000, "parallelism": 20000,
                     "backoffLimitPerIndex": 1}})",
        {"spec.maxFailedIndexes: Required value: must be specified when completions is above "
         "100000",
         "spec.parallelism: Invalid value: 20000: must be less than or equal to 10000 when "
         "completions are above 100000 and used with backoff limit per index"}},
       {R"({"spec": {"managedBy": "nodomain"}})",
        {R"(spec.managedBy: Invalid value: "nodomain": must be a domain-prefixed path )"
         R"((such as "acme.io/foo"))"}},
       {R"({"spec": {"podReplacementPolicy": "X"}})",
        {R"(spec.podReplacementPolicy: Unsupported value: "X": supported values: "Failed", )"
         R"("TerminatingOrFailed")"}},
       {R"({"spec": {"podReplacementPolicy": "TerminatingOrFailed",
                     "podFailurePolicy": {"rules": []},
                     "template": {"spec": {"restartPolicy": "OnFailure"}}}})",
        {R"(spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": )"
         R"(supported values: "Failed")",
         R"(spec.template.spec.restartPolicy: Invalid value: "OnFailure": )"
         R"(only "Never" is supported when podFailurePolicy is specified)"}}});
}

TEST(JobValidation, ValidatesGeneratedAndManualSelectors) {
  StrategyTester tester = Tester();
  const std::string kLabels = R"({"batch.kubernetes.io/controller-uid":")" + std::string(kUid) +
                              R"(","batch.kubernetes.io/job-name":"j","controller-uid":")" +
                              std::string(kUid) + R"(","job-name":"j"})";
  ExpectCreateErrors(
      tester,
      {{R"({"spec": {"selector": {"matchLabels": {"app": "a"}}}})",
        {R"(spec.selector: Invalid value: {"matchLabels":{"app":"a",)"
         R"("batch.kubernetes.io/controller-uid":")" +
             std::string(kUid) + R"("}}: `selector` not auto-generated)",
         "spec.template.metadata.labels: Invalid value: " + kLabels +
             ": `selector` does not match template `labels`"}},
       {R"({"spec": {"template": {"metadata": {"labels": {"job-name": "x"}}}}})",
        {"spec.template.metadata.labels[job-name]: Invalid value: " +
         std::string(kLabels).replace(kLabels.rfind("\"j\""), 3, "\"x\"") + ": must be 'j'"}},
       {R"({"spec": {"manualSelector": true}})",
        {"spec.selector: Required value",
         "spec.template.metadata.labels: Invalid value: null: `selector` does not match template "
         "`labels`"}},
       {R"({"spec": {"manualSelector": true, "selector": {"matchLabels": {"app": "a"}},
                     "template": {"metadata": {"labels": {"app": "a"}}}}})",
        {}}});
}

TEST(JobValidation, RejectsIndexedNamesThatMakeInvalidHostNames) {
  StrategyTester tester = Tester();
  EXPECT_THAT(
      tester.CreateErrors(R"({"metadata": {"name": "a.b"},
                              "spec": {"completionMode": "Indexed", "completions": 10}})"),
      testing::ElementsAre(R"(metadata.name: Invalid value: "a.b": will not able to create pod )"
                           "with invalid DNS hostname: a.b-9"));
}

TEST(JobValidation, RejectsChangesOfImmutableSpecFields) {
  StrategyTester tester = Tester();
  Object old = tester.Create(R"({"spec": {"completions": 3}})");
  ExpectUpdateErrors(tester, old,
                     {{R"({"spec": {"parallelism": 2, "backoffLimit": 2, "suspend": true,
                     "ttlSecondsAfterFinished": 5, "activeDeadlineSeconds": 5}})",
                       {}},
                      {R"({"spec": {"completions": 5}})",
                       {"spec.completions: Invalid value: 5: field is immutable"}},
                      {R"({"spec": {"completionMode": "Indexed"}})",
                       {R"(spec.completionMode: Invalid value: "Indexed": field is immutable)"}},
                      {R"({"spec": {"managedBy": "example.com/x"}})",
                       {R"(spec.managedBy: Invalid value: "example.com/x": field is immutable)"}}});
  EXPECT_THAT(
      tester.UpdateErrors(old, R"({"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})"),
      testing::ElementsAre(testing::AllOf(
          testing::StartsWith(R"(spec.template: Invalid value: {"labels":{"batch.kubernetes.io)"),
          testing::HasSubstr(
              R"("Spec":{"Volumes":null,"InitContainers":null,"Containers":[{"Name")"),
          testing::HasSubstr(R"("NodeSelector":{"a":"b"},)"),
          testing::EndsWith("}}: field is immutable"))));
}

TEST(JobValidation, SuspendedJobAllowsSchedulingAndResourceChanges) {
  StrategyTester tester = Tester();
  Object waiting = tester.Create(R"({"spec": {"suspend": true}})");
  Object running = tester.Create();
  constexpr std::string_view kAllowed[] = {
      R"({"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})",
      R"({"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}})",
      R"({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})",
      R"({"spec": {"template": {"spec": {"affinity": {"nodeAffinity": {}}}}}})",
      R"({"spec": {"template": {"spec": {"containers": [
          {"name": "c", "image": "app:1", "resources": {"requests": {"cpu": "2"}}}]}}}})",
  };
  for (std::string_view patch : kAllowed) {
    EXPECT_EQ(tester.UpdateErrors(waiting, patch).size(), 0u) << patch;
    EXPECT_EQ(tester.UpdateErrors(running, patch).size(), 1u) << patch;
  }
  constexpr std::string_view kImage =
      R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "z"}]}}}})";
  EXPECT_EQ(tester.UpdateErrors(waiting, kImage).size(), 1u);
}

TEST(JobValidation, ElasticJobMustChangeCompletionsAndParallelismTogether) {
  StrategyTester tester = Tester();
  Object old = tester.Create(
      R"({"spec": {"completions": 3, "parallelism": 3, "completionMode": "Indexed"}})");
  ExpectUpdateErrors(tester, old,
                     {{R"({"spec": {"completions": 5, "parallelism": 5}})", {}},
                      {R"({"spec": {"completions": 5}})",
                       {"spec.completions: Invalid value: 5: can only be modified in tandem with "
                        "spec.parallelism"}}});
}

}  // namespace
}  // namespace cox::apiserver
