// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/columns.h"

#include <gtest/gtest.h>

#include "apiserver/testing/test_pods.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;

constexpr int64_t kNow = 1'700'000'000;

struct Row {
  std::string_view name;
  std::string_view spec;
  std::string_view status;
  std::string_view ready, text, restarts;
};

Pod Make(const Row& row) {
  Pod pod = PodWith(row.spec);
  pod.status = FromJson<core::v1::PodStatus>(row.status);
  return pod;
}

TEST(PodColumns, ShowStatusOfPod) {
  const std::vector<Row> rows = {
      {"new", "", R"({"phase":"Pending"})", "0/1", "Pending", "0"},
      {"gated", "",
       R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
           "reason":"SchedulingGated"}]})",
       "0/1", "SchedulingGated", "0"},
      {"running", "",
       R"({"phase":"Running","containerStatuses":[{"name":"c","ready":true,"restartCount":2,
           "state":{"running":{}},"lastState":{"terminated":{"finishedAt":
           "2023-11-14T22:08:20Z"}}}]})",
       "1/1", "Running", "2 (5m ago)"},
      {"crashing", "",
       R"({"phase":"Running","containerStatuses":[{"name":"c","restartCount":3,
           "state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})",
       "0/1", "CrashLoopBackOff", "3"},
      {"killed", "",
       R"({"phase":"Failed","containerStatuses":[{"name":"c",
           "state":{"terminated":{"signal":9}}}]})",
       "0/1", "Signal:9", "0"},
      {"evicted", "", R"({"phase":"Failed","reason":"Evicted"})", "0/1", "Evicted", "0"},
      {"initializing", R"("initContainers":[{"name":"i","image":"x"},{"name":"j","image":"x"}])",
       R"({"phase":"Pending","initContainerStatuses":[
           {"name":"i","state":{"terminated":{"exitCode":0}}},
           {"name":"j","state":{"waiting":{"reason":"PodInitializing"}}}]})",
       "0/1", "Init:1/2", "0"},
      {"init failed", R"("initContainers":[{"name":"i","image":"x"}])",
       R"({"phase":"Pending","initContainerStatuses":[
           {"name":"i","restartCount":4,"state":{"terminated":{"exitCode":7}}}]})",
       "0/1", "Init:ExitCode:7", "4"},
      {"with a sidecar", R"("initContainers":[{"name":"i","image":"x","restartPolicy":"Always"}])",
       R"({"phase":"Running","initContainerStatuses":[{"name":"i","ready":true,"started":true,
           "restartCount":1,"state":{"running":{}}}],
           "containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]})",
       "2/2", "Running", "1"},
      {"one of two done", R"("containers":[{"name":"c","image":"x"},{"name":"d","image":"x"}])",
       R"({"phase":"Running","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[
           {"name":"c","state":{"terminated":{"reason":"Completed"}}},
           {"name":"d","ready":true,"state":{"running":{}}}]})",
       "1/2", "NotReady", "0"},
  };
  for (const Row& row : rows) {
    Cells cells = PodRow(Make(row), Time::FromUnix(kNow));
    EXPECT_EQ(cells[1].as_string(), row.ready) << row.name;
    EXPECT_EQ(cells[2].as_string(), row.text) << row.name;
    EXPECT_EQ(cells[3].as_string(), row.restarts) << row.name;
  }
}

TEST(PodColumns, ShowTerminatingPods) {
  Pod pod = PodWith("");
  pod.metadata.deletionTimestamp = Time::FromUnix(kNow);
  pod.status.phase = "Running";
  EXPECT_EQ(PodRow(pod, Time::FromUnix(kNow))[2].as_string(), "Terminating");
  pod.status.phase = "Succeeded";
  EXPECT_EQ(PodRow(pod, Time::FromUnix(kNow))[2].as_string(), "Succeeded");
  pod.status.reason = "NodeLost";
  EXPECT_EQ(PodRow(pod, Time::FromUnix(kNow))[2].as_string(), "Unknown");
}

TEST(PodColumns, ShowWideCells) {
  Pod pod = PodWith(R"("nodeName":"n","readinessGates":[{"conditionType":"a"},
                       {"conditionType":"b"}])");
  pod.status = FromJson<core::v1::PodStatus>(
      R"({"podIPs":[{"ip":"10.0.0.1"}],"conditions":[{"type":"b","status":"True"}]})");
  Cells cells = PodRow(pod, Time::FromUnix(kNow));
  ASSERT_EQ(cells.size(), PodColumns().size());
  EXPECT_EQ(cells[5].as_string(), "10.0.0.1");
  EXPECT_EQ(cells[6].as_string(), "n");
  EXPECT_EQ(cells[7].as_string(), "<none>");
  EXPECT_EQ(cells[8].as_string(), "1/2");
}

TEST(PodTemplateColumns, ShowCells) {
  core::v1::PodTemplate object = FromJson<core::v1::PodTemplate>(
      R"({"metadata":{"name":"t"},"template":{"metadata":{"labels":{"b":"c","a":"b"}},
          "spec":{"containers":[{"name":"c","image":"x"},{"name":"d","image":"y"}]}}})");
  EXPECT_EQ(json::Write(Value(PodTemplateRow(object))), R"(["t","c,d","x,y","a=b,b=c"])");
}

}  // namespace
}  // namespace cox::apiserver
