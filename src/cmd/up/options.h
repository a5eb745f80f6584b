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
#include "base/rotating_log.h"

namespace cox::cmd {

// The paths of a cluster. All are below one folder, so that `coxswain down` can remove them.
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
  std::filesystem::path lock() const { return data / "lock"; }  // held by the running `up`
  // The bridge of the node's Pods; its name is unique per data folder.
  std::string bridge() const;
  // The parent cgroup of the Pods' cgroups.
  std::string cgroup_root() const { return bridge() == "cox0" ? "/" : "/" + bridge(); }
  // "unix:///var/lib/coxswain/run/containerd.sock"
  std::string runtime_endpoint() const { return "unix://" + containerd_socket().string(); }
};

// The options of `coxswain up`, with derived values.
struct UpOptions {
  UpPaths paths{"/var/lib/coxswain"};
  std::filesystem::path kubeconfig;  // the administrator's
  bool node = true;

  std::vector<std::string> etcd_servers;  // empty: an etcd is started
  std::string etcd_ca_file, etcd_certificate_file, etcd_key_file;
  std::string runtime_endpoint;  // an existing runtime; empty: a containerd is started

  std::string node_name;
  std::string node_ip;
  std::string advertise_address;
  std::string service_cidr;
  std::string api_service_ip;  // the first address of service_cidr
  std::string dns_ip;          // the tenth address of service_cidr
  std::string cluster_cidr;
  std::string first_pod_cidr;  // the range of the first node
  std::string cluster_domain;
  std::vector<std::pair<std::string, std::string>> mirrors;  // registry, URL

  struct Ports {
    uint16_t api, etcd, etcd_peer, controller_manager, scheduler;
    uint16_t kubelet, kubelet_health, proxy_health, proxy_metrics, dns_metrics;
  } ports{};
  int verbosity = 0;
  LogFileLimits log_limits;

  // "https://127.0.0.1:6443": the URL for clients on this machine.
  std::string api_url() const { return "https://127.0.0.1:" + std::to_string(ports.api); }
  std::string advertised_url() const {
    return "https://" + advertise_address + ":" + std::to_string(ports.api);
  }
};

// Returns the canonical path of --data-dir, because the bridge name and the mount points depend on
// it: trailing slashes and symlinks must not matter.
std::filesystem::path DataDirFrom(const Flags& flags);

std::span<const FlagInfo> UpFlags();
std::string_view UpIntro();

// Returns BadRequest with the flag and the expected value.
Result<UpOptions> UpOptionsFrom(const Flags& flags);

// Returns the address at offset `index` of the network: "10.96.0.0/16", 10 -> "10.96.0.10". Returns
// BadRequest if the CIDR is invalid or too small.
Result<std::string> AddressIn(std::string_view cidr, uint32_t index);

// Returns the address that this machine uses to reach others. NotFound if it has only loopback
// addresses.
Result<std::string> OwnAddress();

}  // namespace cox::cmd
