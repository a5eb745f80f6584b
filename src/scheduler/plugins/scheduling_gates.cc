// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "SchedulingGates";

// Pods with scheduling gates are not queued until all gates are removed.
class SchedulingGates final : public PreEnqueuePlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo&, Signature&) const override { return true; }
  PluginStatus PreEnqueue(const PodInfo& pod) const override {
    const auto& gates = pod.pod->spec.schedulingGates;
    if (gates.empty()) return {};
    std::vector<std::string> names;
    for (const auto& gate : gates) names.push_back(gate.name);
    return PluginStatus::Unresolvable(kName,
                                      "waiting for scheduling gates: [" + Join(names, " ") + "]");
  }
  std::vector<EventInterest> Events() const override {
    return {{.bits = kPodGatesEliminated, .hint = nullptr}};
  }
};

}  // namespace

std::unique_ptr<Plugin> NewSchedulingGates(const PluginHandle&) {
  return std::make_unique<SchedulingGates>();
}

}  // namespace cox::scheduler
