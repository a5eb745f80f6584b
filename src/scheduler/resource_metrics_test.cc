// SPDX-License-Identifier: Apache-2.0
#include "scheduler/resource_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace cox::scheduler {
namespace {

using core::v1::Container;
using core::v1::Pod;
using testing::HasSubstr;
using testing::Not;

Pod PodWith(Map<Quantity> requests, Map<Quantity> limits) {
  Pod pod;
  pod.metadata = {.name = "web", .namespace_ = "default"};
  pod.spec.schedulerName = "default-scheduler";
  Container container;
  container.name = "main";
  container.resources.requests = std::move(requests);
  container.resources.limits = std::move(limits);
  pod.spec.containers = {container};
  return pod;
}
Quantity Q(std::string_view text) { return *Quantity::Parse(text); }
std::string TextOf(const Pod& pod) {
  PodResourceMetrics metrics;
  metrics.Add(pod);
  return metrics.Take();
}
std::string Sample(const std::string& name, const std::string& resource, const std::string& unit,
                   const std::string& value) {
  return name + R"({namespace="default",node="n1",pod="web",priority="7",resource=")" + resource +
         R"(",scheduler="default-scheduler",unit=")" + unit + "\"} " + value + "\n";
}

TEST(PodResourceMetricsTest, ValuesHaveTheUnitOfTheirResource) {
  Pod pod = PodWith({{"cpu", Q("250m")}, {"memory", Q("64Mi")}, {"example.com/gpu", Q("2")}},
                    {{"memory", Q("128Mi")}, {"hugepages-2Mi", Q("4Mi")}});
  pod.spec.nodeName = "n1";
  pod.spec.priority = 7;
  const std::string text = TextOf(pod);
  EXPECT_THAT(text, HasSubstr("# HELP kube_pod_resource_request [STABLE] "));
  EXPECT_THAT(text, HasSubstr(Sample("kube_pod_resource_request", "cpu", "cores", "0.25")));
  EXPECT_THAT(text,
              HasSubstr(Sample("kube_pod_resource_request", "memory", "bytes", "6.7108864e+07")));
  EXPECT_THAT(text,
              HasSubstr(Sample("kube_pod_resource_request", "example.com/gpu", "integer", "2")));
  EXPECT_THAT(text,
              HasSubstr(Sample("kube_pod_resource_limit", "memory", "bytes", "1.34217728e+08")));
  EXPECT_THAT(
      text, HasSubstr(Sample("kube_pod_resource_limit", "hugepages-2Mi", "bytes", "4.194304e+06")));
  EXPECT_THAT(text, Not(HasSubstr("kube_pod_resource_limit{namespace=\"default\",node=\"n1\",pod="
                                  "\"web\",priority=\"7\",resource=\"cpu\"")));
}

TEST(PodResourceMetricsTest, OverheadIsAddedOnlyToLimitedResources) {
  Pod pod = PodWith({{"cpu", Q("1")}}, {{"memory", Q("100")}});
  pod.spec.nodeName = "n1";
  pod.spec.priority = 7;
  pod.spec.overhead = {{"cpu", Q("500m")}, {"memory", Q("20")}};
  const std::string text = TextOf(pod);
  EXPECT_THAT(text, HasSubstr(Sample("kube_pod_resource_request", "cpu", "cores", "1.5")));
  EXPECT_THAT(text, HasSubstr(Sample("kube_pod_resource_request", "memory", "bytes", "20")));
  EXPECT_THAT(text, HasSubstr(Sample("kube_pod_resource_limit", "memory", "bytes", "120")));
  EXPECT_THAT(text, Not(HasSubstr("kube_pod_resource_limit{namespace=\"default\",node=\"n1\",pod="
                                  "\"web\",priority=\"7\",resource=\"cpu\"")));
}

TEST(PodResourceMetricsTest, TerminalPodsWithANodeAreOmitted) {
  Pod pod = PodWith({{"cpu", Q("1")}}, {});
  pod.status.phase = "Failed";
  EXPECT_THAT(TextOf(pod), HasSubstr("kube_pod_resource_request{namespace=\"default\",node=\"\","));
  pod.spec.nodeName = "n1";
  EXPECT_THAT(TextOf(pod), Not(HasSubstr("kube_pod_resource_request{")));
}

}  // namespace
}  // namespace cox::scheduler
