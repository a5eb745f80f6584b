// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "base/result.h"

// Host names and /etc/hosts of Pods. Pure.
namespace cox::kubelet {

struct PodHostname {
  std::string host;    // at most 63 characters
  std::string domain;  // "sub.ns.svc.cluster.local"; empty without a subdomain

  bool operator==(const PodHostname&) const = default;
};
PodHostname HostnameOf(const core::v1::Pod& pod, std::string_view cluster_domain);

// The sandbox's hostname: the short name, or the FQDN with setHostnameAsFQDN. BadRequest if it is
// longer than the kernel's limit of 64.
Result<std::string> SandboxHostname(const core::v1::Pod& pod, std::string_view cluster_domain);

// The managed /etc/hosts. `host_file`: the content of the node's file, which host-network Pods get.
std::string HostsFile(const core::v1::Pod& pod, const std::vector<std::string>& pod_ips,
                      std::string_view cluster_domain, std::string_view host_file);

}  // namespace cox::kubelet
