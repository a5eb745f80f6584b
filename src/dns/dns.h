// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "coxswain/manager.h"

// The cluster DNS, on every node: messages (wire/), names of Services and Pods (zone/), and the
// server, which answers or forwards queries (server/).
namespace cox::dns {

struct DnsOptions {
  std::vector<std::string> addresses = {"127.0.0.1"};  // to listen on
  // Adds `addresses` to the loopback interface, and removes them at the end. False: they exist
  // already.
  bool add_addresses = false;
  uint16_t port = 53;
  std::string cluster_domain = "cluster.local";
  std::string cluster_dns_ip;  // Pods reach it here, --cluster-dns; empty: the first address
  // The servers for other names, "192.0.2.53" or "192.0.2.53:5353". If empty, the nameservers of
  // `resolv_conf`; if there are none either, queries for other names are refused.
  std::vector<std::string> upstreams;
  std::string resolv_conf = "/etc/resolv.conf";
  std::string metrics_address = "127.0.0.1:9153";  // "0": none
  uint32_t ttl = 30;
};

// The options of a node: each node adds the cluster DNS address to its loopback interface and
// answers there, so that Pods need neither proxy rules nor another node to reach it.
DnsOptions NodeDnsOptions(const std::vector<std::string>& cluster_dns);

// Runs while the manager runs, on every node. BadRequest for invalid options.
Status AddDns(Manager& manager, const DnsOptions& options);

// Removes the addresses that a killed process left on this node.
Status CleanUp();

// Writes the Service kube-system/kube-dns at `cluster_dns`, one address per family. It only informs
// tools; proxies ignore it, because nodes answer at this address themselves. Idempotent.
Status WriteDnsService(Context& ctx, Client& admin, const std::vector<std::string>& cluster_dns);

}  // namespace cox::dns
