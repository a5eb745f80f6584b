// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "kubelet/node/node_object.h"
#include "runtime/runtime.h"

// What the kubelet says about its node. Pure functions.
namespace cox::kubelet {

// What was found out.
struct NodeFacts {
  Machine machine;
  int64_t storage_bytes = 0;  // of the kubelet's file system
  runtime::Version runtime;   // empty name: not known yet
  // What the runtime said of itself; not OK: it does not answer.
  Result<runtime::RuntimeStatus> runtime_status = Status::Unavailable("");
  Status pods;  // of what runs Pods: PodManager::Ready
  List<cri::v1::Image> images;
  Pressure pressure;
};

// The status that follows from `facts`, beginning with what the API has: conditions of others
// (NetworkUnavailable), volumesAttached and extended resources stay, transition times move only
// with their condition. `now` becomes the heartbeat.
core::v1::NodeStatus BuildNodeStatus(const core::v1::NodeStatus& present, const NodeFacts& facts,
                                     const NodeOptions& options, const Time& now);

// Whether it differs in more than heartbeats.
bool NodeStatusChanged(const core::v1::NodeStatus& a, const core::v1::NodeStatus& b);

// What is wrong with the node, in upstream's words; empty: it is ready.
std::string NotReadyMessage(const NodeFacts& facts);
bool IsReady(const core::v1::NodeStatus& status);

// The strategic merge patch from `before` to `after`; empty if nothing differs.
Result<std::string> NodeStatusPatch(const core::v1::Node& before,
                                    const core::v1::NodeStatus& after);

// The largest first, at most `limit`, each with at most five names.
List<core::v1::ContainerImage> ListedImages(const List<cri::v1::Image>& images, size_t limit);

}  // namespace cox::kubelet
