// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

// The keys and certificates of a cluster, under kubeadm's names.
namespace cox::cmd {

struct PkiOptions {
  std::filesystem::path dir;  // <data-dir>/pki
  // Names and addresses of the API server beside those that every cluster has.
  std::vector<std::string> apiserver_names;
  std::vector<std::string> apiserver_addresses;
  std::string cluster_domain = "cluster.local";
  std::string node_name;  // of the kubelet's serving certificate; empty: none is made
  std::vector<std::string> node_addresses;
  // Certificates that end earlier than this are made anew.
  std::chrono::hours renew_before{24 * 30};
};

// Makes what is not there, and anew what ends soon, lacks a name that is wanted now, has not its
// key, or was signed by a CA that is gone. CAs and the key of service accounts stay for ever: all
// else hangs on them.
//
//   ca, front-proxy-ca, etcd/ca                            the three CAs
//   apiserver, kubelet, etcd/server, etcd/peer             who serves
//   apiserver-kubelet-client, apiserver-etcd-client, front-proxy-client   whom the API server is
//   sa.key, sa.pub                                         signs service account tokens
//
// Keys are readable by their owner alone. Returns the names of the files made, for the log.
// Errors: Internal, naming the file that cannot be written or read; BadRequest for one that is
//   none.
Result<std::vector<std::string>> EnsurePki(const PkiOptions& options, Clock::WallTime now);

// Somebody who talks to the API server with a certificate.
struct KubeconfigUser {
  std::string file;  // "admin.conf"
  std::string name;  // common name: "kubernetes-admin"
  std::vector<std::string> groups;
};
struct KubeconfigOptions {
  std::filesystem::path pki;  // where ca.crt and ca.key are
  std::string server;         // "https://10.0.0.1:6443"
  std::string cluster_name = "coxswain";
  std::chrono::hours renew_before{24 * 30};
};
// Writes a kubeconfig with a certificate of its own, unless `path` holds one that is still good for
// this server. True if it was written. Conflict if the file is of other clusters: it is left alone.
Result<bool> EnsureKubeconfig(const std::filesystem::path& path, const KubeconfigUser& user,
                              const KubeconfigOptions& options, Clock::WallTime now);

}  // namespace cox::cmd
