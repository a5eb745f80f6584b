// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/requests.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using testing::MakePod;

TEST(RequestsTest, QosClass) {
  const struct {
    std::string spec;
    std::string want;
  } kCases[] = {
      {R"({"containers":[{"name":"a"}]})", "BestEffort"},
      {R"({"containers":[{"name":"a","resources":{"limits":{"nvidia.com/gpu":"1"}}}]})",
       "BestEffort"},
      {R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1m"}}}]})", "Burstable"},
      {R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})",
       "Guaranteed"},
      {R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1024Mi"}}}]})",
       "Guaranteed"},
      {R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}}}]})",
       "Burstable"},
      {R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}},{"name":"b"}]})",
       "Burstable"},
      {R"({"initContainers":[{"name":"i"}],"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})",
       "Burstable"},
      {R"({"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"containers":[{"name":"a"}]})",
       "Guaranteed"},
  };
  for (const auto& c : kCases) EXPECT_EQ(QosClass(MakePod(c.spec)), c.want) << c.spec;
  EXPECT_EQ(QosClass(MakePod(kCases[0].spec, R"({"qosClass":"Burstable"})")), "Burstable");
}

TEST(RequestsTest, PodRequestsAndLimits) {
  const auto pod = MakePod(R"({"overhead":{"cpu":"10m"},
    "initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}},
      {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}},
      {"name":"j","resources":{"requests":{"cpu":"950m"}}}],
    "containers":[{"name":"a","resources":{"requests":{"cpu":"200m"},"limits":{"memory":"1Mi"}}},
      {"name":"b","resources":{"limits":{"cpu":"300m"}}}]})");
  // The last init container plus the sidecar need more than the main containers plus the sidecar.
  EXPECT_EQ(PodRequest(pod, "cpu").value, 1050 + 10);
  EXPECT_EQ(PodLimit(pod, "cpu").value, 310);
  EXPECT_FALSE(PodLimit(pod, "cpu").everywhere);
  EXPECT_FALSE(PodLimit(pod, "memory").everywhere);
  const auto whole =
      MakePod(R"({"resources":{"limits":{"memory":"2Mi"}},"containers":[{"name":"a"}]})");
  EXPECT_EQ(PodLimit(whole, "memory").value, 2 << 20);
  EXPECT_TRUE(PodLimit(whole, "memory").everywhere);
}

TEST(RequestsTest, OomScore) {
  constexpr int64_t kCapacity = int64_t{4} << 30;
  const struct {
    std::string spec;
    int want;
  } kCases[] = {
      {R"({"containers":[{"name":"a"}]})", 1000},
      {R"({"priority":2000001000,"containers":[{"name":"a"}]})", -997},
      {R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})", -997},
      {R"({"containers":[{"name":"a","resources":{"requests":{"memory":"1Gi"}}}]})", 750},
      {R"({"containers":[{"name":"a","resources":{"requests":{"memory":"8Gi"}}}]})", 3},
      {R"({"containers":[{"name":"a","resources":{"requests":{"memory":"1"}}}]})", 999},
      {R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]})", 999},
  };
  for (const auto& c : kCases) {
    const auto pod = MakePod(c.spec);
    EXPECT_EQ(OomScoreAdjust(pod, pod.spec.containers[0], kCapacity), c.want) << c.spec;
  }
  const auto pod = MakePod(R"({"initContainers":[{"name":"s","restartPolicy":"Always"}],
      "containers":[{"name":"a","resources":{"requests":{"memory":"1Gi"}}}]})");
  EXPECT_EQ(OomScoreAdjust(pod, pod.spec.initContainers[0], kCapacity), 750);
}

}  // namespace
}  // namespace cox::kubelet
