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

// Allocates the cluster IPs and node ports of Services.
//
// The registry calls it before the strategy prepares and validates an object. It completes the
// fields that determine the addresses, allocates addresses and ports, and sets them in the object,
// so that they are validated. The returned transaction releases them unless it is committed; values
// that an update no longer needs are released on commit only. A dry run allocates nothing and
// returns possible values.
//
// Guarantees: no address and no port is allocated to two services. A server that crashes between
//   allocation and write leaks; ServiceRepair (repair.h) repairs that.
// Threads: all methods may be called concurrently.
// Ownership: the stores outlive this; transactions do not outlive it.
// Errors: Invalid, with upstream's texts, if a value cannot be allocated; Internal if a range is
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

  // Called once at startup: creates the default ServiceCIDR.
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
