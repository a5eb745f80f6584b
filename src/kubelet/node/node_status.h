// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "kubelet/node/node_object.h"
#include "runtime/runtime.h"

// Computes the status of the Node. Pure functions.
namespace cox::kubelet {

// The observed state of the node.
struct NodeFacts {
  Machine machine;
  int64_t storage_bytes = 0;  // of the kubelet's file system
  runtime::Version runtime;   // an empty name: not read yet
  // The runtime's status; not OK: the runtime does not respond.
  Result<runtime::RuntimeStatus> runtime_status = Status::Unavailable("");
  Status pods;  // readiness of the Pod manager (PodManager::Ready)
  List<cri::v1::Image> images;
  Pressure pressure;
};

// The status that follows from `facts`, based on the API server's version: keeps conditions of
// other writers (NetworkUnavailable), volumesAttached and extended resources; a transition time
// changes only with its condition. `now` becomes the heartbeat time.
core::v1::NodeStatus BuildNodeStatus(const core::v1::NodeStatus& present, const NodeFacts& facts,
                                     const NodeOptions& options, const Time& now);

// Whether they differ in more than heartbeat times.
bool NodeStatusChanged(const core::v1::NodeStatus& a, const core::v1::NodeStatus& b);

// Why the node is not ready, with upstream's texts; empty: it is ready.
std::string NotReadyMessage(const NodeFacts& facts);
bool IsReady(const core::v1::NodeStatus& status);

// The strategic merge patch from `before` to `after`; empty if nothing differs.
Result<std::string> NodeStatusPatch(const core::v1::Node& before,
                                    const core::v1::NodeStatus& after);

// The largest images first, at most `limit`, each with at most five names.
List<core::v1::ContainerImage> ListedImages(const List<cri::v1::Image>& images, size_t limit);

}  // namespace cox::kubelet
