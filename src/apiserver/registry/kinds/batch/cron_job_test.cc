// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/batch/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBase = R"({
  "metadata": {"name": "nightly", "namespace": "default"},
  "spec": {"schedule": "0 0 * * *",
           "jobTemplate": {"spec": {"template": {"spec": {
             "restartPolicy": "Never", "containers": [{"name": "c", "image": "app:1"}]}}}}}
})";

StrategyTester Tester() { return {NewCronJobStrategy(), kBase}; }

TEST(CronJob, SetsDefaultsExceptThoseOfJobs) {
  StrategyTester tester = Tester();
  Object object = tester.Create();
  EXPECT_EQ(tester.At(object, {"spec", "concurrencyPolicy"}), R"("Allow")");
  EXPECT_EQ(tester.At(object, {"spec", "suspend"}), "false");
  EXPECT_EQ(tester.At(object, {"spec", "successfulJobsHistoryLimit"}), "3");
  EXPECT_EQ(tester.At(object, {"spec", "failedJobsHistoryLimit"}), "1");
  EXPECT_EQ(tester.At(object, {"spec", "jobTemplate", "spec", "backoffLimit"}), "absent");
  EXPECT_EQ(tester.At(object, {"spec", "jobTemplate", "spec", "template", "spec", "dnsPolicy"}),
            R"("ClusterFirst")");
}

TEST(CronJob, RejectsInvalidSpecs) {
  StrategyTester tester = Tester();
  ExpectCreateErrors(
      tester,
      {{"{}", {}},
       {R"({"spec": {"schedule": ""}})", {"spec.schedule: Required value"}},
       {R"({"spec": {"schedule": "60 * * * *"}})",
        {R"(spec.schedule: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60)"}},
       {R"({"spec": {"schedule": "TZ=UTC * * * * *"}})",
        {R"(spec.schedule: Invalid value: "TZ=UTC * * * * *": )"
         "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
       {R"({"spec": {"timeZone": ""}})",
        {R"(spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string)"}},
       {R"({"spec": {"timeZone": "LOCAL"}})",
        {R"(spec.timeZone: Invalid value: "LOCAL": timeZone must be an explicit time zone as )"
         "defined in https://www.iana.org/time-zones"}},
       {R"({"spec": {"timeZone": " UTC"}})",
        {R"(spec.timeZone: Invalid value: " UTC": unknown time zone  UTC)"}},
       {R"({"spec": {"timeZone": "Etc/UTC"}})", {}},
       {R"({"spec": {"concurrencyPolicy": "X", "startingDeadlineSeconds": -1,
                     "successfulJobsHistoryLimit": -1, "failedJobsHistoryLimit": -1}})",
        {"spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
         R"(spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", )"
         R"("Replace")",
         "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
         "spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
       {R"({"spec": {"jobTemplate": {"spec": {"selector": {"matchLabels": {"app": "a"}},
                                              "manualSelector": true, "backoffLimit": -1}}}})",
        {"spec.jobTemplate.spec.backoffLimit: Invalid value: -1: must be greater than or equal to "
         "0",
         R"(spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"app":"a"}}: )"
         "`selector` will be auto-generated",
         R"(spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: )"
         R"("nil", "false")"}}});
  std::string name(53, 'a');
  EXPECT_THAT(tester.CreateErrors(R"({"metadata": {"name": ")" + name + R"("}})"),
              testing::ElementsAre("metadata.name: Invalid value: \"" + name +
                                   "\": must be no more than 52 characters"));
}

TEST(CronJob, KeepsStoredTimeZoneInSchedule) {
  StrategyTester tester = Tester();
  Object old = tester.Create(R"({"spec": {"schedule": "TZ=UTC * * * * *"}})");
  ExpectUpdateErrors(tester, old,
                     {{R"({"spec": {"suspend": true}})", {}},
                      {R"({"spec": {"timeZone": "UTC"}})",
                       {R"(spec.schedule: Invalid value: "TZ=UTC * * * * *": )"
                        "cannot use both timeZone field and TZ or CRON_TZ in schedule"}}});
}

TEST(CronJob, HasColumns) {
  StrategyTester tester = Tester();
  EXPECT_EQ(tester.Row(tester.Create()),
            R"(["nightly","0 0 * * *","\u003cnone\u003e","False",0,"\u003cnone\u003e",)"
            R"("\u003cunknown\u003e","c","app:1","\u003cnone\u003e"])");
  Object object = tester.Update(
      tester.Create(R"({"spec": {"timeZone": "Etc/UTC", "suspend": true}})"),
      R"({"status": {"lastScheduleTime": "2023-11-14T22:13:15Z", "active": [{"name": "x"}]}})",
      "status");
  EXPECT_EQ(tester.Row(object),
            R"(["nightly","0 0 * * *","Etc/UTC","True",1,"5s","\u003cunknown\u003e","c","app:1",)"
            R"("\u003cnone\u003e"])");
}

}  // namespace
}  // namespace cox::apiserver
