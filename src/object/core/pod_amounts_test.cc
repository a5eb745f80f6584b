// SPDX-License-Identifier: Apache-2.0
#include "object/core/pod_amounts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cox::core_rules {
namespace {

using core::v1::Container;
using core::v1::PodSpec;

Container Takes(int64_t milli_cpu) {
  Container container;
  container.resources.requests["cpu"] = Quantity::Parse(std::to_string(milli_cpu) + "m").value();
  return container;
}
Container SidecarTakes(int64_t milli_cpu) {
  Container container = Takes(milli_cpu);
  container.restartPolicy = "Always";
  return container;
}

int64_t MilliCpu(const PodSpec& spec) {
  return AggregateContainerResources(
      spec, [](const Container& c, bool) { return c.resources.requests.Get("cpu")->MilliValue(); },
      [](int64_t& total, int64_t more) { total += more; },
      [](int64_t& amount, int64_t other) { amount = std::max(amount, other); });
}

TEST(PodAmountsTest, TotalIsMaximumOfRunningContainersAndEachInitContainer) {
  const struct {
    List<Container> init, main;
    int64_t want;
    const char* why;
  } kCases[] = {
      {{}, {}, 0, "nothing"},
      {{}, {Takes(500), Takes(250)}, 750, "containers add up"},
      {{Takes(300), Takes(200)}, {Takes(500)}, 500, "init containers end before"},
      {{Takes(900), Takes(200)}, {Takes(500)}, 900, "one that takes more"},
      {{SidecarTakes(100), SidecarTakes(200)}, {Takes(500)}, 800, "sidecars stay"},
      {{Takes(2000), SidecarTakes(500), Takes(1800)}, {Takes(1000)}, 2300, "beside the sidecar"},
      {{Takes(2000), SidecarTakes(500), Takes(100)}, {Takes(1000)}, 2000, "before the sidecar"},
      {{Takes(100), SidecarTakes(500), Takes(100)}, {Takes(1000)}, 1500, "all that stays"},
  };
  for (const auto& c : kCases) {
    PodSpec spec;
    spec.initContainers = c.init;
    spec.containers = c.main;
    EXPECT_EQ(MilliCpu(spec), c.want) << c.why;
  }
}

TEST(PodAmountsTest, CallbackReceivesWhetherContainerIsInit) {
  PodSpec spec;
  spec.containers = {{.name = "a"}, {.name = "b"}};
  spec.initContainers = {{.name = "i"}, {.name = "s", .restartPolicy = "Always"}};
  std::string seen;
  (void)AggregateContainerResources(
      spec,
      [&](const Container& container, bool init) {
        seen += container.name + (init ? "! " : " ");
        return 0;
      },
      [](int&, int) {}, [](int&, int) {});
  EXPECT_EQ(seen, "a b i! s! ");
}

}  // namespace
}  // namespace cox::core_rules
