// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cox::controllers {

struct NodeIpamOptions {
  // --allocate-node-cidrs
  bool allocate_node_cidrs = false;
  // --cluster-cidr: one range, or one per IP family
  std::vector<std::string> cluster_cidrs;
  // --service-cluster-ip-range: no node gets addresses of these ranges.
  std::vector<std::string> service_cidrs;
  // --node-cidr-mask-size and its forms per IP family. 0: 24 for IPv4, 64 for IPv6.
  int mask_size_ipv4 = 0;
  int mask_size_ipv6 = 0;
};

}  // namespace cox::controllers
