// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"
#include "coxswain/manager.h"
#include "kubelet/logs/rotate.h"
#include "kubelet/node/node_object.h"
#include "kubelet/options/options.h"
#include "kubelet/server/node_server.h"

// The node agent: runs the Pods that were given to this node (podworkers/), tells the API what the
// node is (node/), and answers those who want to look into its containers (server/).
namespace cox::kubelet {

// What its parts are told. The name of the node, its addresses, folders and number of Pods stand in
// `pods`, and are given on from there.
struct KubeletOptions {
  Options pods;
  NodeOptions node;
  NodeServerOptions server;
  RotateOptions logs;
  std::string container_runtime_endpoint = "unix:///run/containerd/containerd.sock";
  std::string healthz_address = "127.0.0.1:10248";  // without credentials; "0": none
};

// The same with what can be found out: the name is the host's, the address that of the default
// route. Errors as Validate, and BadRequest for what else cannot be.
Result<KubeletOptions> Complete(KubeletOptions options);

// The options as a KubeletConfiguration, for /configz; Complete puts it there.
Value KubeletConfigurationOf(const KubeletOptions& options);

// Runs while the manager does; it needs no leadership. BadRequest for options that cannot be.
//
// It reads through a cache of its own, over the manager's client: only this node's Pods, its Node
// and Services, whatever the manager's cache is for. So a manager may be shared; but the client is
// the node's identity (system:node:<name>), and an API server that minds it lets others not in.
// `runtime` is used instead of the endpoint if it is not null; it outlives the manager.
Status AddKubelet(Manager& manager, KubeletOptions options, runtime::Runtime* runtime = nullptr);

}  // namespace cox::kubelet
