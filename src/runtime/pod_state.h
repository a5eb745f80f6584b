// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

// The observed state of a node's Pods, as reported by the runtime.
namespace cox::runtime {

struct ContainerState {
  std::string id;        // the runtime's ID, without the "containerd://" prefix: "0123abcd"
  std::string name;      // of the container in the Pod
  uint32_t attempt = 0;  // the restart count of the container in its Pod
  // kUnknown: the runtime has lost the container's state. It may or may not be running.
  enum class Phase : uint8_t { kCreated, kRunning, kExited, kUnknown };
  Phase phase = Phase::kUnknown;
  std::string image;     // as requested
  std::string image_id;  // the resolved digest
  Clock::WallTime created{};
  Clock::WallTime started{};
  Clock::WallTime finished{};
  int32_t exit_code = 0;
  std::string reason;   // "OOMKilled", "Error", "Completed": for exited containers
  std::string message;  // the termination message
  // The hash of the spec that the container was created from, as an annotation. Survives kubelet
  // restarts.
  uint64_t spec_hash = 0;
};

struct SandboxState {
  std::string id;
  uint32_t attempt = 0;
  bool ready = false;  // its infra container runs and it has a network
  Clock::WallTime created{};
  std::vector<std::string> ips;  // the first is the Pod's IP; empty with host network
};

// All sandboxes and containers of one Pod, newest first, including exited ones that were not
// removed.
struct PodState {
  std::string uid;
  std::string ns;
  std::string name;
  std::vector<SandboxState> sandboxes;
  std::vector<ContainerState> containers;

  // The newest instance of the container; null if it never ran.
  const ContainerState* Newest(std::string_view container) const {
    for (const ContainerState& state : containers) {
      if (state.name == container) return &state;
    }
    return nullptr;
  }
};

}  // namespace cox::runtime
