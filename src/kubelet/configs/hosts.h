// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "base/result.h"

// How a Pod is called within itself. Pure.
namespace cox::kubelet {

struct PodHostname {
  std::string host;    // at most 63 characters
  std::string domain;  // "sub.ns.svc.cluster.local"; empty without a subdomain

  bool operator==(const PodHostname&) const = default;
};
PodHostname HostnameOf(const core::v1::Pod& pod, std::string_view cluster_domain);

// What the kernel is told: the short name, or with setHostnameAsFQDN the whole one. BadRequest if
// that is too long for the kernel (64).
Result<std::string> SandboxHostname(const core::v1::Pod& pod, std::string_view cluster_domain);

// The managed /etc/hosts. `host_file`: the node's own, of which Pods in its network get a copy.
std::string HostsFile(const core::v1::Pod& pod, const std::vector<std::string>& pod_ips,
                      std::string_view cluster_domain, std::string_view host_file);

}  // namespace cox::kubelet
