// SPDX-License-Identifier: Apache-2.0
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

StrategyTester Tester() { return {NewJobStrategy(), kBase}; }

TEST(Job, SetsDefaults) {
  StrategyTester tester = Tester();
  struct Case {
    std::string_view patch, parallelism, completions, backoff_limit, replacement;
  } const kCases[] = {
      {"{}", "1", "1", "6", R"("TerminatingOrFailed")"},
      {R"({"spec": {"completions": 3}})", "1", "3", "6", R"("TerminatingOrFailed")"},
      {R"({"spec": {"parallelism": 3}})", "3", "absent", "6", R"("TerminatingOrFailed")"},
      {R"({"spec": {"completions": 3, "backoffLimitPerIndex": 1}})", "1", "3", "2147483647",
       R"("TerminatingOrFailed")"},
      {R"({"spec": {"podFailurePolicy": {"rules": []}}})", "1", "1", "6", R"("Failed")"},
  };
  for (const Case& c : kCases) {
    Object job = tester.Create(c.patch);
    EXPECT_EQ(tester.At(job, {"spec", "parallelism"}), c.parallelism) << c.patch;
    EXPECT_EQ(tester.At(job, {"spec", "completions"}), c.completions) << c.patch;
    EXPECT_EQ(tester.At(job, {"spec", "backoffLimit"}), c.backoff_limit) << c.patch;
    EXPECT_EQ(tester.At(job, {"spec", "podReplacementPolicy"}), c.replacement) << c.patch;
    EXPECT_EQ(tester.At(job, {"spec", "completionMode"}), R"("NonIndexed")");
    EXPECT_EQ(tester.At(job, {"spec", "suspend"}), "false");
    EXPECT_EQ(tester.At(job, {"spec", "manualSelector"}), "false");
  }
  Object job = tester.Create(R"({"spec": {"podFailurePolicy": {"rules": [
      {"action": "Ignore", "onPodConditions": [{"type": "a"}, {"type": "b", "status": "False"}]}]}}})");
  EXPECT_EQ(tester.At(job, {"spec", "podFailurePolicy", "rules"}),
            R"([{"action":"Ignore","onPodConditions":[{"status":"True","type":"a"},)"
            R"({"status":"False","type":"b"}]}])");
}

TEST(Job, SelectorUsesUidOfJob) {
  StrategyTester tester = Tester();
  const std::string kLabels =
      R"({"batch.kubernetes.io/controller-uid":"11111111-2222-3333-4444-555555555555",)"
      R"("batch.kubernetes.io/job-name":"j",)"
      R"("controller-uid":"11111111-2222-3333-4444-555555555555","job-name":"j"})";
  Object job = tester.Create();
  EXPECT_EQ(tester.At(job, {"spec", "selector", "matchLabels"}),
            R"({"batch.kubernetes.io/controller-uid":"11111111-2222-3333-4444-555555555555"})");
  EXPECT_EQ(tester.At(job, {"spec", "template", "metadata", "labels"}), kLabels);
  EXPECT_EQ(tester.At(job, {"metadata", "labels"}), kLabels);
  Object labeled = tester.Create(R"({"metadata": {"labels": {"a": "b"}}})");
  EXPECT_EQ(tester.At(labeled, {"metadata", "labels"}), R"({"a":"b"})");
  Object manual = tester.Create(R"({"spec": {"manualSelector": true,
      "selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}}}})");
  EXPECT_EQ(tester.At(manual, {"spec", "template", "metadata", "labels"}), R"({"app":"a"})");
}

TEST(Job, DeleteOrphansPodsByDefaultWithWarning) {
  StrategyTester tester = Tester();
  EXPECT_EQ(tester.strategy().DefaultPropagation(tester.Create()), Propagation::kOrphan);
  meta::v1::DeleteOptions options;
  EXPECT_THAT(tester.strategy().WarnOnDelete(options),
              testing::ElementsAre(testing::StartsWith("child pods are preserved by default")));
  options.propagationPolicy = "Background";
  EXPECT_THAT(tester.strategy().WarnOnDelete(options), testing::IsEmpty());
}

TEST(Job, SupportsFieldSelectorStatusSuccessful) {
  StrategyTester tester = Tester();
  EXPECT_THAT(tester.strategy().FieldNames(), testing::ElementsAre("status.successful"));
  EXPECT_THAT(tester.strategy().Fields(tester.Create()),
              testing::ElementsAre(testing::Pair("status.successful", "0")));
}

TEST(Job, WarnsAboutManyIndexesWithHighParallelism) {
  StrategyTester tester = Tester();
  constexpr std::string_view kMany =
      R"({"spec": {"completionMode": "Indexed", "completions": 100001, "parallelism": 10001}})";
  EXPECT_THAT(tester.CreateWarnings(kMany),
              testing::ElementsAre(testing::StartsWith("In Indexed Jobs with a number of")));
  EXPECT_THAT(tester.CreateWarnings("{}"), testing::IsEmpty());
}

TEST(Job, HasColumns) {
  StrategyTester tester = Tester();
  struct Case {
    std::string_view create, status, want;
  } const kCases[] = {
      {R"({"spec": {"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}}})", "{}",
       R"(["j","Running","0/1","","\u003cunknown\u003e","c","app:1","a=b"])"},
      {R"({"spec": {"manualSelector": true, "parallelism": 3}})",
       R"({"status": {"startTime": "2023-11-14T22:13:15Z",
                      "conditions": [{"type": "Suspended", "status": "True"}]}})",
       R"(["j","Suspended","0/1 of 3","5s","\u003cunknown\u003e","c","app:1","\u003cnone\u003e"])"},
      {R"({"spec": {"manualSelector": true}})",
       R"({"status": {"succeeded": 1, "startTime": "2023-11-14T22:13:15Z",
                      "completionTime": "2023-11-14T22:13:18Z",
                      "conditions": [{"type": "Complete", "status": "True"}]}})",
       R"(["j","Complete","1/1","3s","\u003cunknown\u003e","c","app:1","\u003cnone\u003e"])"},
  };
  for (const Case& c : kCases) {
    Object job = tester.Update(tester.Create(c.create), c.status, "status");
    EXPECT_EQ(tester.Row(job), c.want) << c.create;
  }
}

}  // namespace
}  // namespace cox::apiserver
