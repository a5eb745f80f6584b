// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

// The keys and certificates of a cluster, with the file names of kubeadm.
namespace cox::cmd {

// Certificates that expire within this time, a third of their validity, are renewed.
inline constexpr std::chrono::hours kRenewBefore{24 * 365 / 3};

struct PkiOptions {
  std::filesystem::path dir;  // <data-dir>/pki
  // Names and addresses of the API server in addition to those of every cluster.
  std::vector<std::string> apiserver_names;
  std::vector<std::string> apiserver_addresses;
  std::string cluster_domain = "cluster.local";
  std::string node_name;  // for the kubelet's serving certificate; empty: none is created
  std::vector<std::string> node_addresses;
  std::chrono::hours renew_before = kRenewBefore;
};

// Creates missing files, and renews certificates that expire soon, lack a required name, do not
// match their key, or were signed by a CA that no longer exists. CAs and the service account key
// are never replaced, because everything else depends on them.
//
//   ca, front-proxy-ca, etcd/ca                            the three CAs
//   apiserver, kubelet, etcd/server, etcd/peer             serving certificates
//   apiserver-kubelet-client, apiserver-etcd-client, front-proxy-client   the API server's clients
//   sa.key, sa.pub                                         signs service account tokens
//
// Keys are readable only by their owner. Returns the names of the created files, for the log.
// Errors: Internal with the name of a file that cannot be written or read; BadRequest for an
//   invalid file.
Result<std::vector<std::string>> EnsurePki(const PkiOptions& options, Clock::WallTime now);

// A user of the API server with a client certificate.
struct KubeconfigUser {
  std::string file;  // "admin.conf"
  std::string name;  // common name: "kubernetes-admin"
  std::vector<std::string> groups;
};
struct KubeconfigOptions {
  std::filesystem::path pki;  // directory of ca.crt and ca.key
  std::string server;         // "https://10.0.0.1:6443"
  std::string cluster_name = "coxswain";
  std::chrono::hours renew_before = kRenewBefore;
};
// Writes a kubeconfig with its own client certificate, unless `path` contains a valid one for this
// server. Returns true if it was written. Returns Conflict and keeps the file if it contains other
// clusters.
Result<bool> EnsureKubeconfig(const std::filesystem::path& path, const KubeconfigUser& user,
                              const KubeconfigOptions& options, Clock::WallTime now);

}  // namespace cox::cmd
