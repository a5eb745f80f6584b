// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/limit_ranger/limits.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "object/object.h"

namespace cox::apiserver::limit_ranger {
namespace {

using core::v1::LimitRange;
using core::v1::PersistentVolumeClaim;
using core::v1::Pod;

template <class T>
T Of(const std::string& text) {
  Object object(T::kKind);
  const Result<Value> value = json::Parse(text);
  EXPECT_TRUE(value.ok()) << text;
  if (value.ok()) {
    EXPECT_TRUE(object.FromValue(*value).ok()) << text;
  }
  return *object.As<T>();
}

LimitRange RangeOf(const std::string& items) {
  return Of<LimitRange>(R"({"spec":{"limits":[)" + items + "]}}");
}

// Containers "a", "b", ... with these resources.
std::string Containers(const std::vector<std::string>& resources) {
  std::string out;
  for (size_t i = 0; i < resources.size(); ++i) {
    if (i > 0) out += ",";
    out += R"({"name":")" + std::string(1, static_cast<char>('a' + i)) + R"(","resources":)" +
           resources[i] + "}";
  }
  return "[" + out + "]";
}

Pod PodOf(const std::vector<std::string>& resources) {
  return Of<Pod>(R"({"spec":{"containers":)" + Containers(resources) + "}}");
}

TEST(ApplyDefaultsTest, SetsMissingAmountsAndRecordsThemInAnAnnotation) {
  const LimitRange range = RangeOf(R"({"type":"Container","default":{"cpu":"2","memory":"1Gi"},
      "defaultRequest":{"cpu":"1"}})");
  Pod pod = Of<Pod>(R"({"spec":{
      "initContainers":[{"name":"i"}],
      "containers":[{"name":"a","resources":{"limits":{"cpu":"3"}}},
                    {"name":"b","resources":{"requests":{"cpu":"1m"},
                                             "limits":{"cpu":"3","memory":"2Gi"}}}]}})");
  ApplyDefaults(range, pod);
  EXPECT_EQ(pod.spec.containers[0].resources.limits.Get("cpu")->ToString(), "3");
  EXPECT_EQ(pod.spec.containers[0].resources.limits.Get("memory")->ToString(), "1Gi");
  EXPECT_EQ(pod.spec.containers[0].resources.requests.Get("cpu")->ToString(), "1");
  EXPECT_EQ(pod.spec.initContainers[0].resources.limits.size(), 2u);
  EXPECT_EQ(*pod.metadata.annotations.Get(kAnnotation),
            "LimitRanger plugin set: cpu request for container a; memory limit for container a; "
            "cpu request for init container i; cpu, memory limit for init container i");
}

TEST(ApplyDefaultsTest, NoAnnotationIfNothingWasMissing) {
  Pod pod = PodOf({R"({"limits":{"cpu":"3"}})"});
  ApplyDefaults(RangeOf(R"({"type":"Container","default":{"cpu":"2"}})"), pod);
  ApplyDefaults(RangeOf(R"({"type":"Pod","default":{"memory":"2"}})"), pod);
  EXPECT_TRUE(pod.metadata.annotations.empty());
  EXPECT_FALSE(pod.spec.containers[0].resources.limits.contains("memory"));
}

TEST(CheckPodTest, ContainersAreLimited) {
  const struct {
    std::string_view item, resources, want;
  } kCases[] = {
      {R"("min":{"cpu":"1"})", R"({"requests":{"cpu":"1000m"},"limits":{"cpu":"1"}})", ""},
      {R"("min":{"cpu":"1"})", "{}",
       "minimum cpu usage per Container is 1.  No request is specified"},
      {R"("min":{"cpu":"1"})", R"({"requests":{"cpu":"999m"}})",
       "minimum cpu usage per Container is 1, but request is 999m"},
      {R"("min":{"cpu":"1"})", R"({"requests":{"cpu":"1"},"limits":{"cpu":"10m"}})",
       "minimum cpu usage per Container is 1, but limit is 10m"},
      {R"("max":{"memory":"1Gi"})", R"({"limits":{"memory":"1024Mi"}})", ""},
      {R"("max":{"memory":"1Gi"})", R"({"requests":{"memory":"1Mi"}})",
       "maximum memory usage per Container is 1Gi.  No limit is specified"},
      {R"("max":{"memory":"1Gi"})", R"({"limits":{"memory":"1025Mi"}})",
       "maximum memory usage per Container is 1Gi, but limit is 1025Mi"},
      {R"("max":{"memory":"1Gi"})", R"({"limits":{"memory":"1Gi"},"requests":{"memory":"2Gi"}})",
       "maximum memory usage per Container is 1Gi, but request is 2Gi"},
      {R"("maxLimitRequestRatio":{"cpu":"1500m"})",
       R"({"limits":{"cpu":"3"},"requests":{"cpu":"2"}})", ""},
      {R"("maxLimitRequestRatio":{"cpu":"1500m"})",
       R"({"limits":{"cpu":"4"},"requests":{"cpu":"2"}})",
       "cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000"},
      {R"("maxLimitRequestRatio":{"cpu":"2"})", R"({"limits":{"cpu":"4"},"requests":{"cpu":"0"}})",
       "cpu max limit to request ratio per Container is 2, but no request is specified or request "
       "is 0"},
      {R"("maxLimitRequestRatio":{"cpu":"2"})", R"({"requests":{"cpu":"1"}})",
       "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is "
       "0"},
  };
  for (const auto& c : kCases) {
    const LimitRange range = RangeOf(R"({"type":"Container",)" + std::string(c.item) + "}");
    const Violations got = CheckPod(range, PodOf({std::string(c.resources)}));
    EXPECT_EQ(got, c.want.empty() ? Violations{} : Violations{std::string(c.want)});
    // Init containers have the same limits.
    Pod hidden = PodOf({});
    hidden.spec.initContainers = PodOf({std::string(c.resources)}).spec.containers;
    EXPECT_EQ(CheckPod(range, hidden), got);
  }
}

TEST(CheckPodTest, PodTotalIsTheMaximumOfConcurrentContainers) {
  const LimitRange range = RangeOf(R"({"type":"Pod","max":{"cpu":"0"}})");  // always exceeded
  auto total = [&](const std::string& spec) {
    const Violations got = CheckPod(range, Of<Pod>(R"({"spec":)" + spec + "}"));
    return got.empty() ? "" : got[0].substr(got[0].rfind(' ') + 1);
  };
  auto cpu = [](const std::string& amount, const std::string& more = "") {
    return R"({"name":"x",)" + more + R"("resources":{"limits":{"cpu":")" + amount + R"("}}})";
  };
  const std::string sidecar = R"("restartPolicy":"Always",)";
  EXPECT_EQ(total(R"({"containers":[)" + cpu("1") + "," + cpu("2") + "]}"), "3");
  // Init containers run one at a time.
  EXPECT_EQ(total(R"({"containers":[)" + cpu("1") + R"(],"initContainers":[)" + cpu("5") + "," +
                  cpu("4") + "]}"),
            "5");
  // Sidecars keep running.
  EXPECT_EQ(total(R"({"containers":[)" + cpu("1") + R"(],"initContainers":[)" + cpu("2", sidecar) +
                  "," + cpu("4") + "]}"),
            "6");
  EXPECT_EQ(total(R"({"containers":[)" + cpu("7") + R"(],"initContainers":[)" + cpu("2", sidecar) +
                  "," + cpu("4") + "]}"),
            "9");
  // Pod-level resources replace the sum of the containers; overhead is not counted.
  EXPECT_EQ(total(R"({"overhead":{"cpu":"9"},"resources":{"limits":{"cpu":"8"}},"containers":[)" +
                  cpu("1") + "]}"),
            "8");
}

TEST(CheckClaimTest, ClaimRequestsAreLimited) {
  const LimitRange range = RangeOf(
      R"({"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"5Gi"}})");
  auto check = [&](const std::string& requests) {
    return CheckClaim(range, Of<PersistentVolumeClaim>(R"({"spec":{"resources":{"requests":)" +
                                                       requests + "}}}"));
  };
  EXPECT_EQ(check(R"({"storage":"5Gi"})"), Violations{});
  EXPECT_EQ(
      check(R"({"storage":"6Gi"})"),
      Violations{"maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi"});
  EXPECT_EQ(check("{}"),
            (Violations{
                "minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified",
                "maximum storage usage per PersistentVolumeClaim is 5Gi.  No request is "
                "specified"}));
}

TEST(TogetherTest, OmitsDuplicates) {
  EXPECT_EQ(JoinViolations({"a", "a"}), "a");
  EXPECT_EQ(JoinViolations({"a", "b", "a"}), "[a, b]");
}

}  // namespace
}  // namespace cox::apiserver::limit_ranger
