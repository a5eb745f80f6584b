// SPDX-License-Identifier: Apache-2.0
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

// Sorts by priority, then by queue time.
class PrioritySort final : public QueueSortPlugin {
 public:
  std::string_view name() const override { return "PrioritySort"; }
  bool Sign(const PodInfo&, Signature&) const override { return true; }
  bool Less(const Waiting& a, const Waiting& b) const override {
    if (a.pod.priority != b.pod.priority) return a.pod.priority > b.pod.priority;
    return a.since < b.since;
  }
};

}  // namespace

std::unique_ptr<Plugin> NewPrioritySort(const PluginHandle&) {
  return std::make_unique<PrioritySort>();
}

}  // namespace cox::scheduler
