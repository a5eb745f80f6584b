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
constexpr std::string_view kRunning =
    R"({"status": {"active": 1, "ready": 0, "startTime": "2024-01-01T00:00:00Z"}})";
constexpr std::string_view kComplete =
    R"({"status": {"active": 0, "succeeded": 1, "completionTime": "2024-01-01T00:01:00Z",
        "conditions": [{"type": "SuccessCriteriaMet", "status": "True"},
                       {"type": "Complete", "status": "True"}]}})";

class JobStatusTest : public testing::Test {
 protected:
  StrategyTester tester_{NewJobStrategy(), kBase};
  Object running_ = tester_.Update(tester_.Create(), kRunning, "status");
  Object complete_ = tester_.Update(running_, kComplete, "status");
};

TEST_F(JobStatusTest, AcceptsRunningAndCompleteJobs) {
  ExpectUpdateErrors(tester_, tester_.Create(), {{kRunning, {}}}, "status");
  ExpectUpdateErrors(tester_, running_, {{kComplete, {}}, {"{}", {}}}, "status");
  ExpectUpdateErrors(tester_, complete_, {{"{}", {}}}, "status");
}

TEST_F(JobStatusTest, RejectsInvalidStatusOfRunningJob) {
  const std::string kConditions = "status.conditions: Invalid value: cannot ";
  ExpectUpdateErrors(
      tester_, running_,
      {{R"({"status": {"succeeded": -1, "conditions": [{"type": "Complete", "status": "True"}]}})",
        {"status.succeeded: Invalid value: -1: must be greater than or equal to 0",
         "status.completionTime: Required value: completionTime is required for Complete jobs",
         kConditions + "set Complete=True condition without the SuccessCriteriaMet=true condition",
         "status.active: Invalid value: 1: active>0 is invalid for finished job",
         "status.succeeded: Invalid value: -1: cannot decrease the succeeded counter"}},
       {R"({"status": {"active": 0, "conditions": [{"type": "Failed", "status": "True"}]}})",
        {kConditions + "set Failed=True condition without the FailureTarget=true condition"}},
       {R"({"status": {"ready": 2}})",
        {"status.ready: Invalid value: 2: cannot set more ready pods than active"}},
       {R"({"status": {"startTime": null}})",
        {"status.startTime: Required value: startTime cannot be removed for unsuspended job"}},
       {R"({"status": {"startTime": "2024-02-01T00:00:00Z"}})",
        {R"(status.startTime: Invalid value: "2024-02-01T00:00:00Z": )"
         "startTime cannot be modified for unsuspended job"}},
       {R"({"status": {"uncountedTerminatedPods": {"succeeded": ["a", ""], "failed": ["a"]}}})",
        {R"(status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty)",
         R"(status.uncountedTerminatedPods.failed[0]: Duplicate value: "a")"}},
       {R"({"status": {"completedIndexes": "0"}})",
        {R"(status.completedIndexes: Invalid value: "0": )"
         "cannot set non-empty completedIndexes when non-indexed completion mode"}},
       {R"({"status": {"failedIndexes": "0"}})",
        {R"(status.failedIndexes: Invalid value: "0": )"
         "cannot set non-null failedIndexes when backoffLimitPerIndex is null"}}},
      "status");
}

TEST_F(JobStatusTest, FinishedJobCannotChangeResult) {
  ExpectUpdateErrors(
      tester_, complete_,
      {{R"({"status": {"conditions": []}})",
        {R"(status.completionTime: Invalid value: "2024-01-01T00:01:00Z": )"
         "cannot set completionTime when there is no Complete=True condition",
         "status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
         "status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition"}},
       {R"({"status": {"completionTime": "2024-01-01T00:02:00Z"}})",
        {R"(status.completionTime: Invalid value: "2024-01-01T00:02:00Z": )"
         "completionTime cannot be mutated"}},
       {R"({"status": {"failed": 1, "terminating": 1}})",
        {"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job"}}},
      "status");
}

TEST_F(JobStatusTest, IndexCannotBothFailAndComplete) {
  Object old = tester_.Create(R"({"spec": {"completionMode": "Indexed", "completions": 10,
                                  "backoffLimitPerIndex": 1}})");
  ExpectUpdateErrors(
      tester_, old,
      {{R"({"status": {"completedIndexes": "0-2,5", "failedIndexes": "3,6-9"}})", {}},
       {R"({"status": {"completedIndexes": "0-2,5", "failedIndexes": "3,4-9"}})",
        {R"(status.failedIndexes: Invalid value: "3,4-9": )"
         "failedIndexes and completedIndexes overlap at index: 5"}},
       {R"({"status": {"completedIndexes": "x"}})",
        {R"(status.completedIndexes: Invalid value: "x": error parsing completedIndexes: )"
         R"(cannot convert string to integer for index: "x")"}}},
      "status");
}

}  // namespace
}  // namespace cox::apiserver
