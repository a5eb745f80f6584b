// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/build_info.h"
#include "kubelet/node/machine.h"
#include "kubelet/node/pressure.h"
#include "object/type/map.h"

// The Node as this kubelet registers it.
namespace cox::kubelet {

struct NodeOptions {
  std::string name;
  std::vector<std::string> ips;  // the first of each family is an address of the Node
  Map<std::string> labels;       // --node-labels
  List<core::v1::Taint> taints;  // --register-with-taints
  bool register_node = true;     // false: the Node is created by another component
  bool schedulable = true;       // --register-schedulable
  std::string provider_id;
  std::string kubelet_version = GetBuildInfo().git_version;
  uint16_t port = 10250;
  int64_t max_pods = 110;
  std::string root_dir = "/var/lib/kubelet";
  // Resources that are not available to Pods.
  Map<Quantity> kube_reserved;
  Map<Quantity> system_reserved;
  std::vector<Threshold> eviction_hard = DefaultEvictionHard();
  std::chrono::seconds pressure_transition{300};
  size_t max_images = 50;  // nodeStatusMaxImages
  // How often the status is computed, and how often it is written without a change.
  std::chrono::milliseconds status_update{10'000};
  std::chrono::milliseconds status_report{300'000};
  std::chrono::seconds lease_duration{40};
};

// The Node object to create.
core::v1::Node NewNode(const NodeOptions& options, const Machine& machine);

// Updates the kubelet's fields of an existing Node to those of `wanted`: the labels for hostname,
// operating system and architecture, and the volume annotation. Keeps taints and other labels,
// which administrators may have changed. Returns true if it changed anything.
bool ReconcileNode(const core::v1::Node& wanted, core::v1::Node* existing);

// "a=b,c=d". BadRequest for an invalid label, or one that a node may not set on itself.
Result<Map<std::string>> ParseNodeLabels(std::string_view text);
// "key=value:NoSchedule,key:NoExecute". BadRequest.
Result<List<core::v1::Taint>> ParseTaints(std::string_view text);
// "cpu=100m,memory=1Gi". BadRequest.
Result<Map<Quantity>> ParseReserved(std::string_view text);

}  // namespace cox::kubelet
