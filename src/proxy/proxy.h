// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "coxswain/manager.h"

// kube-proxy: forwards packets for Services to their endpoints. Objects are converted to a model
// (model/), that to rules (rules/), and the difference to the programmed rules is sent to the
// kernel in one transaction (nft/).
namespace cox::proxy {

// kube-proxy's flags, with its defaults.
struct ProxyOptions {
  std::string node_name;              // --hostname-override
  std::vector<std::string> node_ips;  // empty: from the Node object
  // --nodeport-addresses: CIDRs of the addresses of this node that accept node ports. Empty or
  // "primary": the node's own. "0.0.0.0/0" and "::/0": all except loopback.
  std::vector<std::string> node_port_addresses;
  std::string cluster_cidr;  // --cluster-cidr, "10.42.0.0/16,fd00::/64"; empty: unknown
  bool masquerade_all = false;
  int masquerade_bit = 14;
  std::string healthz_address = "0.0.0.0:10256";  // "0": none
  std::string metrics_address = "127.0.0.1:10249";
  bool ipv4 = true;
  bool ipv6 = true;
  // Changes within this period are combined into one transaction (--iptables-min-sync-period).
  std::chrono::milliseconds min_sync_period{0};
  // How often the whole table is rewritten, in case another program has changed it.
  std::chrono::seconds full_sync_period{3600};
};

// Runs while the manager runs, on every node, without leader election. BadRequest for invalid
// options.
Status AddProxy(Manager& manager, const ProxyOptions& options);

// The cache options of a manager that runs only the proxy.
CacheOptions ProxyCache();

// Removes all rules of the proxy in this network namespace.
Status CleanUp();

}  // namespace cox::proxy
