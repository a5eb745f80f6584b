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
  bool register_node = true;     // false: somebody else makes the Node
  bool schedulable = true;       // --register-schedulable
  std::string provider_id;
  std::string kubelet_version = GetBuildInfo().git_version;
  uint16_t port = 10250;
  int64_t max_pods = 110;
  std::string root_dir = "/var/lib/kubelet";
  // What is kept from Pods.
  Map<Quantity> kube_reserved;
  Map<Quantity> system_reserved;
  std::vector<Threshold> eviction_hard = DefaultEvictionHard();
  std::chrono::seconds pressure_transition{300};
  size_t max_images = 50;  // nodeStatusMaxImages
  // How often the status is looked at, and written though nothing has changed.
  std::chrono::milliseconds status_update{10'000};
  std::chrono::milliseconds status_report{300'000};
  std::chrono::seconds lease_duration{40};
};

// As it is created.
core::v1::Node NewNode(const NodeOptions& options, const Machine& machine);

// Makes one that exists (an earlier life of this node) agree with `wanted` in what the kubelet is
// to say: labels of host, system and architecture, the annotation of volumes. Taints and other
// labels are those of administrators by now. True if that changed anything.
bool ReconcileNode(const core::v1::Node& wanted, core::v1::Node* existing);

// "a=b,c=d". BadRequest naming what is no label, or one that a node may not give itself.
Result<Map<std::string>> ParseNodeLabels(std::string_view text);
// "key=value:NoSchedule,key:NoExecute". BadRequest.
Result<List<core::v1::Taint>> ParseTaints(std::string_view text);
// "cpu=100m,memory=1Gi". BadRequest.
Result<Map<Quantity>> ParseReserved(std::string_view text);

}  // namespace cox::kubelet
