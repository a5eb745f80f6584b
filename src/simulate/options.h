// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "object/type/map.h"

namespace cox::simulate {

// On Pods: what becomes of them. Durations are Go's: "1m30s".
inline constexpr std::string_view kStartupDelay = "coxswain.dev/startup-delay";
inline constexpr std::string_view kRunFor = "coxswain.dev/run-for";      // then its containers exit
inline constexpr std::string_view kExitCode = "coxswain.dev/exit-code";  // with this; 0
// On Pods: "NotReady" runs and never gets ready; any other word is why its containers wait for ever
// ("ImagePullBackOff"). On Nodes: anything but "false" silences the node, as if it had lost power.
inline constexpr std::string_view kFail = "coxswain.dev/fail";

struct Options {
  int nodes = 1;
  std::string prefix = "sim-";  // of their names; numbers follow
  int pods_per_node = 110;      // at most kMaxPodsPerNode
  std::string cpu = "32";
  std::string memory = "256Gi";
  int zones = 3;                    // for the label topology.kubernetes.io/zone
  Map<std::string> labels;          // besides those that every node has
  Clock::Duration startup_delay{};  // from binding to Running; a Pod's annotation goes before
  std::set<std::string> fail;       // nodes that register and are never heard of again
  // As the kubelet: renewed four times as often.
  std::chrono::seconds lease_duration{40};
  // Of the status of a node that is as it was.
  std::chrono::seconds status_period{300};
  int workers = 16;  // writes that are under way at once
};

// Each node has 256 addresses for its Pods.
inline constexpr int kMaxPodsPerNode = 250;
inline constexpr int kMaxNodes = 65'536;

}  // namespace cox::simulate
