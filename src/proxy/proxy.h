// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "coxswain/manager.h"

// kube-proxy: the packets that go to Services go to their endpoints. Objects become a model of what
// is wanted (model/), that becomes rules (rules/), and the difference to what was programmed goes
// to the kernel in one transaction (nft/).
namespace cox::proxy {

// kube-proxy's flags, with its defaults.
struct ProxyOptions {
  std::string node_name;              // --hostname-override
  std::vector<std::string> node_ips;  // the node's own; empty: as the Node object says
  // --nodeport-addresses: CIDRs of addresses of this node at which node ports answer. Empty, or
  // "primary": the node's own. "0.0.0.0/0" and "::/0": all but loopback.
  std::vector<std::string> node_port_addresses;
  std::string cluster_cidr;  // --cluster-cidr, "10.42.0.0/16,fd00::/64"; empty: unknown
  bool masquerade_all = false;
  int masquerade_bit = 14;
  std::string healthz_address = "0.0.0.0:10256";  // "0": none
  std::string metrics_address = "127.0.0.1:10249";
  bool ipv4 = true;
  bool ipv6 = true;
  // Changes closer together than this go in one transaction (--iptables-min-sync-period).
  std::chrono::milliseconds min_sync_period{0};
  // How often the whole table is written anew, in case somebody else has changed it.
  std::chrono::seconds full_sync_period{3600};
};

// Runs while the manager does, on every node: it needs no leadership. BadRequest for options that
// cannot be.
Status AddProxy(Manager& manager, const ProxyOptions& options);

// What a manager that runs nothing but the proxy keeps of the cluster.
CacheOptions ProxyCache();

// Removes all rules that a proxy has left in this network namespace.
Status CleanUp();

}  // namespace cox::proxy
