// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"
#include "coxswain/manager.h"
#include "kubelet/logs/rotate.h"
#include "kubelet/node/node_object.h"
#include "kubelet/options/options.h"
#include "kubelet/server/node_server.h"

// The kubelet: runs the Pods that are bound to this node (podworkers/), reports the Node's status
// (node/), and serves logs, exec and metrics (server/).
namespace cox::kubelet {

// The options of the kubelet's components. Node name, addresses, directories and maxPods are set in
// `pods`; Complete copies them to the others.
struct KubeletOptions {
  Options pods;
  NodeOptions node;
  NodeServerOptions server;
  RotateOptions logs;
  std::string container_runtime_endpoint = "unix:///run/containerd/containerd.sock";
  std::string healthz_address = "127.0.0.1:10248";  // without credentials; "0": none
  bool protect_kernel_defaults = false;             // see kernel_settings.h
  bool fail_swap_on = false;
};

// Fills in defaults: the name is the hostname, the address that of the default route. Returns the
// errors of Validate, and BadRequest for other invalid options.
Result<KubeletOptions> Complete(KubeletOptions options);

// The options as a KubeletConfiguration, served at /configz.
Value KubeletConfigurationOf(const KubeletOptions& options);

// Runs while the manager runs, without leader election. BadRequest for invalid options.
//
// Reads through a cache of its own, over the manager's client, restricted to this node's Pods, its
// Node and Services; so a manager may be shared. But the client must have the node's identity
// (system:node:<name>) if the API server uses node authorization. If `runtime` is not null, it is
// used instead of the endpoint; it must outlive the manager.
Status AddKubelet(Manager& manager, KubeletOptions options, runtime::Runtime* runtime = nullptr);

}  // namespace cox::kubelet
