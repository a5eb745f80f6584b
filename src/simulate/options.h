// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "object/type/map.h"

namespace cox::simulate {

// Annotations of Pods that control their simulation. Durations have Go's format: "1m30s".
inline constexpr std::string_view kStartupDelay = "coxswain.dev/startup-delay";
inline constexpr std::string_view kRunFor = "coxswain.dev/run-for";  // then its containers exit
// The exit code of its containers; default 0.
inline constexpr std::string_view kExitCode = "coxswain.dev/exit-code";
// On Pods: "NotReady": the Pod runs and never becomes ready; any other word is the reason why its
// containers wait forever ("ImagePullBackOff"). On Nodes: any value except "false" stops the
// heartbeats, like a power failure.
inline constexpr std::string_view kFail = "coxswain.dev/fail";

struct Options {
  int nodes = 1;
  std::string prefix = "sim-";  // of node names; a number follows
  int pods_per_node = 110;      // at most kMaxPodsPerNode
  std::string cpu = "32";
  std::string memory = "256Gi";
  int zones = 3;                    // for the label topology.kubernetes.io/zone
  Map<std::string> labels;          // in addition to the standard labels
  Clock::Duration startup_delay{};  // from binding to Running; a Pod's annotation overrides it
  std::set<std::string> fail;       // nodes that register and then send no heartbeats
  // Like the kubelet: renewed four times as often.
  std::chrono::seconds lease_duration{40};
  // Interval at which an unchanged node status is written.
  std::chrono::seconds status_period{300};
  int workers = 16;  // concurrent writes
};

// Each node has 256 addresses for its Pods.
inline constexpr int kMaxPodsPerNode = 250;
inline constexpr int kMaxNodes = 65'536;

}  // namespace cox::simulate
