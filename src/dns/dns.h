// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "coxswain/manager.h"

// The cluster's DNS, on every node: bytes (wire/), names of Services and Pods (zone/), and
// the server that answers or asks others (server/).
namespace cox::dns {

struct DnsOptions {
  std::vector<std::string> addresses = {"127.0.0.1"};  // to listen on
  // They are added to the loopback interface, and removed at the end. Else they are there.
  bool add_addresses = false;
  uint16_t port = 53;
  std::string cluster_domain = "cluster.local";
  std::string cluster_dns_ip;  // at which Pods reach it, --cluster-dns; empty: the first address
  // Where names of others are asked for, "192.0.2.53" or "192.0.2.53:5353"; the nameservers of
  // `resolv_conf` if there are none, nobody if that is empty too.
  std::vector<std::string> upstreams;
  std::string resolv_conf = "/etc/resolv.conf";
  std::string metrics_address = "127.0.0.1:9153";  // "0": none
  uint32_t ttl = 30;
};

// The options of a node: each answers at the cluster's DNS address itself, which it adds to its
// own, so that no rule and no other node is needed to get there.
DnsOptions NodeDnsOptions(const std::vector<std::string>& cluster_dns);

// Runs while the manager does, on every node. BadRequest for options that cannot be.
Status AddDns(Manager& manager, const DnsOptions& options);

// Removes addresses that a killed run has left on this node.
Status CleanUp();

// What a manager that runs nothing but the DNS server keeps of the cluster.
CacheOptions DnsCache();

// Writes the Service kube-system/kube-dns at `cluster_dns`, one address per family. It is for those
// who look; proxies leave it alone, since nodes answer there themselves. Idempotent.
Status WriteDnsService(Context& ctx, Client& admin, const std::vector<std::string>& cluster_dns);

}  // namespace cox::dns
