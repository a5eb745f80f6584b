// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/core/v1.h"
#include "simulate/pernode/backoff.h"
#include "simulate/pernode/lease_renewal.h"
#include "simulate/pernode/node_connection.h"
#include "simulate/pernode/node_pods.h"
#include "simulate/pernode/resource_watch.h"

namespace cox::simulate {

// A node as the API server sees it: registers, renews its Lease, writes its status when
// node_life.h says so, runs its Pods, and has the watches of a kubelet and a kube-proxy: its Node,
// its Pods, Services, EndpointSlices, and each ConfigMap and Secret of its Pods.
//
// Threads: the loop's thread; destruction on any thread when the loop has stopped.
class SimulatedNode final : public WatchHandler {
 public:
  SimulatedNode(Shard& shard, int number, std::unique_ptr<net::Client> client);

  // Registers the Node, and begins everything else when it is registered. Calls `started` once,
  // after the first attempt to register.
  void Start(std::function<void()> started);

  // The watch of its Node.
  void OnListBegin() override {}
  void OnEvent(const WatchedEvent& event, const ObjectView& view) override;
  void OnListEnd() override {}

 private:
  void Register();
  void OnRegistered(const Reply& reply);
  void ReadNode();
  void Begin(core::v1::Node node);
  void Observe(core::v1::Node node);
  void ApplySilence();
  void WriteStatusWhenDue();
  void WriteStatus();

  Shard& shard_;
  const int number_;
  const std::string name_;
  const bool fails_;  // sends no heartbeats after the first
  NodeConnection connection_;
  LeaseRenewal lease_;
  NodePods pods_;
  std::shared_ptr<ResourceWatch> node_;
  std::shared_ptr<ResourceWatch> services_;
  std::shared_ptr<ResourceWatch> endpoint_slices_;
  std::function<void()> started_;
  core::v1::Node last_;  // the fields that node_life.h reads
  bool begun_ = false;
  bool deleted_ = false;  // it is not registered again
  bool ready_ = false;
  bool writing_status_ = false;
  Backoff backoff_;
  LoopTimer timer_;         // registration
  LoopTimer status_timer_;  // node status
};

}  // namespace cox::simulate
