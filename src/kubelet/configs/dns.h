// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/cri/v1.h"

// The DNS configuration of Pods. Pure.
namespace cox::kubelet {

struct ClusterDns {
  List<std::string> servers;  // none: the host's resolver is used
  std::string domain = "cluster.local";
};

// Parses a resolv.conf.
cri::v1::DNSConfig ParseResolvConf(std::string_view text);

// Applies the Pod's dnsPolicy and dnsConfig; `host` is the node's own configuration. Limited to 3
// servers and 32 search domains of 2048 characters in total, as upstream.
cri::v1::DNSConfig MakeDnsConfig(const core::v1::Pod& pod, const ClusterDns& cluster,
                                 const cri::v1::DNSConfig& host);

}  // namespace cox::kubelet
