// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "api/core/v1.h"
#include "kubelet/pod/containers.h"
#include "object/codec/json/json.h"
#include "runtime/pod_state.h"

// Pods and runtime states for tests.
namespace cox::kubelet::testing {

// A Pod "web" of namespace "default" with uid "u1"; `spec` and `status` are JSON.
inline core::v1::Pod MakePod(const std::string& spec, const std::string& status = "{}") {
  Result<core::v1::Pod> pod = json::Decode<core::v1::Pod>(
      R"({"metadata":{"name":"web","namespace":"default","uid":"u1","generation":3},"spec":)" +
      spec + R"(,"status":)" + status + "}");
  EXPECT_TRUE(pod.ok()) << pod.status().ToString();
  return pod.ok() ? *pod : core::v1::Pod{};
}

inline constexpr Clock::WallTime kNow{std::chrono::seconds(1'900'000'000)};

using runtime::ContainerState;
using runtime::PodState;

// Has a ready sandbox that was created a minute ago.
inline PodState RunningSandbox() {
  return {.uid = "u1",
          .ns = "default",
          .name = "web",
          .sandboxes = {{.id = "s0",
                         .ready = true,
                         .created = kNow - std::chrono::seconds(60),
                         .ips = {"10.0.0.7"}}},
          .containers = {}};
}

inline ContainerState Running(const std::string& name, const std::string& image = "i",
                              uint32_t attempt = 0) {
  return {.id = name + std::to_string(attempt),
          .name = name,
          .attempt = attempt,
          .phase = ContainerState::Phase::kRunning,
          .image = image,
          .image_id = "sha256:1",
          .created = kNow - std::chrono::seconds(40),
          .started = kNow - std::chrono::seconds(30),
          .spec_hash = SpecHash({.name = name, .image = image})};
}

inline ContainerState Exited(const std::string& name, int32_t code, uint32_t attempt = 0,
                             std::chrono::seconds ago = std::chrono::seconds(5)) {
  ContainerState state = Running(name, "i", attempt);
  state.phase = ContainerState::Phase::kExited;
  state.exit_code = code;
  state.finished = kNow - ago;
  state.reason = code == 0 ? "Completed" : "Error";
  return state;
}

}  // namespace cox::kubelet::testing
