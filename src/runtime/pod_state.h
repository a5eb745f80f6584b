// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

// What a node runs, as the runtime says it: the observed half of what the kubelet compares.
namespace cox::runtime {

struct ContainerState {
  std::string id;        // of the runtime, without its name in front: "0123abcd"
  std::string name;      // of the container in the Pod
  uint32_t attempt = 0;  // how often it was made anew in its Pod: the restart count
  // kUnknown: the runtime lost track of it. It is neither running nor known to have ended.
  enum class Phase : uint8_t { kCreated, kRunning, kExited, kUnknown };
  Phase phase = Phase::kUnknown;
  std::string image;     // as it was asked for
  std::string image_id;  // what that was: a digest
  Clock::WallTime created{};
  Clock::WallTime started{};
  Clock::WallTime finished{};
  int32_t exit_code = 0;
  std::string reason;   // "OOMKilled", "Error", "Completed": of what has ended
  std::string message;  // the termination message
  // What the kubelet wrote on it: which spec it was made from. Survives the kubelet.
  uint64_t spec_hash = 0;
};

struct SandboxState {
  std::string id;
  uint32_t attempt = 0;
  bool ready = false;  // its infra container runs and it has a network
  Clock::WallTime created{};
  std::vector<std::string> ips;  // the first is the Pod's IP; none with the host's network
};

// All that the runtime has of one Pod, the newest first; also what has ended and was not removed.
struct PodState {
  std::string uid;
  std::string ns;
  std::string name;
  std::vector<SandboxState> sandboxes;
  std::vector<ContainerState> containers;

  // Of the container's lives the newest; null if it never ran.
  const ContainerState* Newest(std::string_view container) const {
    for (const ContainerState& state : containers) {
      if (state.name == container) return &state;
    }
    return nullptr;
  }
};

}  // namespace cox::runtime
