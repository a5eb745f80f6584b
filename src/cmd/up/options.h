// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flags.h"
#include "base/result.h"

namespace cox::cmd {

// Where a cluster keeps what. All of it is below one folder, so that `coxswain down` can take it
// away.
struct UpPaths {
  explicit UpPaths(std::filesystem::path dir) : data(std::move(dir)) {}

  std::filesystem::path data;
  std::filesystem::path pki() const { return data / "pki"; }
  std::filesystem::path etcd() const { return data / "etcd"; }
  std::filesystem::path containerd() const { return data / "containerd"; }
  std::filesystem::path containerd_config() const { return containerd() / "config.toml"; }
  std::filesystem::path containerd_socket() const { return data / "run/containerd.sock"; }
  std::filesystem::path registries() const { return containerd() / "certs.d"; }
  std::filesystem::path cni() const { return data / "cni"; }
  std::filesystem::path cni_config() const { return cni() / "net.d/10-coxswain.conflist"; }
  std::filesystem::path kubelet() const { return data / "kubelet"; }
  std::filesystem::path logs() const { return data / "log"; }
  std::filesystem::path pod_logs() const { return logs() / "pods"; }
  std::filesystem::path lock() const { return data / "lock"; }  // held by the `up` that runs
  // The link that the node's Pods are behind: of its own for each data folder.
  std::string bridge() const;
  // Where the control groups of its Pods hang.
  std::string cgroup_root() const { return bridge() == "cox0" ? "/" : "/" + bridge(); }
  // "unix:///var/lib/coxswain/run/containerd.sock"
  std::string runtime_endpoint() const { return "unix://" + containerd_socket().string(); }
};

// What `coxswain up` was told, with what follows from it.
struct UpOptions {
  UpPaths paths{"/var/lib/coxswain"};
  std::filesystem::path kubeconfig;  // the administrator's
  bool node = true;

  std::vector<std::string> etcd_servers;  // empty: one of our own
  std::string etcd_ca_file, etcd_certificate_file, etcd_key_file;
  std::string runtime_endpoint;  // of one that is there already; empty: one of our own

  std::string node_name;
  std::string node_ip;
  std::string advertise_address;
  std::string service_cidr;
  std::string api_service_ip;  // its first address
  std::string dns_ip;          // its tenth
  std::string cluster_cidr;
  std::string first_pod_cidr;  // what the first node gets of it
  std::string cluster_domain;
  std::vector<std::pair<std::string, std::string>> mirrors;  // registry, URL

  struct Ports {
    uint16_t api, etcd, etcd_peer, controller_manager, scheduler;
    uint16_t kubelet, kubelet_health, proxy_health, proxy_metrics, dns_metrics;
  } ports{};
  int verbosity = 0;

  // "https://127.0.0.1:6443": how this machine's own reach the API server.
  std::string api_url() const { return "https://127.0.0.1:" + std::to_string(ports.api); }
  std::string advertised_url() const {
    return "https://" + advertise_address + ":" + std::to_string(ports.api);
  }
};

// The folder that --data-dir names, by its one true name: what hangs on it (the bridge, which
// mounts are its own) is the same whether somebody writes a slash at its end or comes by a link.
std::filesystem::path DataDirFrom(const Flags& flags);

std::span<const FlagInfo> UpFlags();
std::string_view UpIntro();

// BadRequest, naming the flag and what it wants.
Result<UpOptions> UpOptionsFrom(const Flags& flags);

// The address `index` behind the network's own: "10.96.0.0/16", 10 -> "10.96.0.10". BadRequest if
// it is no CIDR or has no such address.
Result<std::string> AddressIn(std::string_view cidr, uint32_t index);

// The address by which this machine reaches others. NotFound if it has none but loopback.
Result<std::string> OwnAddress();

}  // namespace cox::cmd
