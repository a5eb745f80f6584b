// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/cluster_ips.h"
#include "apiserver/registry/kinds/core/service/alloc/node_ports.h"
#include "apiserver/registry/store/store.h"
#include "base/context.h"
#include "storage/store.h"

namespace cox::apiserver {

// What Services take besides being stored: addresses in the cluster, ports on nodes.
//
// The registry calls it before the strategy prepares and validates an object. It completes the
// fields that say which addresses are wanted, takes them, and writes them into the object, so that
// validation sees them. The transaction it returns gives everything back unless it is committed;
// what an update no longer needs is given back on commit only. A dry run takes nothing, and shows
// what could have been.
//
// Guarantees: no address and no port is ever two services'. A server that dies between taking and
//   storing leaks; ServiceRepair (repair.h) finds that.
// Threads: all methods may be called concurrently.
// Ownership: the stores outlive this; transactions do not outlive it.
// Errors: Invalid with the texts clients know for what cannot be had; Internal when a range is
//   full; those of storage.
class ServiceAllocation final : public WriteHooks {
 public:
  struct Options {
    // One or two, of different families; the first one's family is the default.
    std::vector<std::string> cluster_ip_ranges;
    PortRange node_ports;
    std::string root = "/registry";
    Random random;
  };

  ServiceAllocation(const ServiceStores& stores, Options options);

  // Once at start: makes the ServiceCIDR from which addresses come.
  Status Start(Context& ctx, const Time& now);

  // For Services.
  Result<std::unique_ptr<WriteTransaction>> BeforeCreate(const WriteContext& w,
                                                         Object& object) override;
  Result<std::unique_ptr<WriteTransaction>> BeforeUpdate(const WriteContext& w, Object& object,
                                                         const Object& old) override;
  void AfterDelete(const WriteContext& w, const Object& object) override;

  // For repair.
  ClusterIps& cluster_ips() { return cluster_ips_; }
  NodePorts& node_ports() { return node_ports_; }
  const Options& options() const { return options_; }

 private:
  class Transaction;

  Status AllocateIps(const WriteContext& w, core::v1::Service& service, size_t already,
                     Transaction& transaction);
  Status UpdateIps(const WriteContext& w, core::v1::Service& service, const core::v1::Service& old,
                   Transaction& transaction);
  Status CreatePorts(const WriteContext& w, core::v1::Service& service, Transaction& transaction);
  Status UpdatePorts(const WriteContext& w, core::v1::Service& service,
                     const core::v1::Service& old, Transaction& transaction);

  const Options options_;
  const std::vector<std::string> families_;
  ClusterIps cluster_ips_;
  NodePorts node_ports_;
};

}  // namespace cox::apiserver
