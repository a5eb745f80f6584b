// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/cri/v1.h"

// How a Pod's names are resolved. Pure.
namespace cox::kubelet {

struct ClusterDns {
  List<std::string> servers;  // none: the host's resolver is used
  std::string domain = "cluster.local";
};

// What a resolv.conf says.
cri::v1::DNSConfig ParseResolvConf(std::string_view text);

// By the Pod's dnsPolicy and dnsConfig; `host` is what the node itself uses. At most 3 servers, 32
// domains of 2048 characters: what resolvers read.
cri::v1::DNSConfig MakeDnsConfig(const core::v1::Pod& pod, const ClusterDns& cluster,
                                 const cri::v1::DNSConfig& host);

}  // namespace cox::kubelet
