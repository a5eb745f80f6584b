// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/networking/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/service_allocation.h"
#include "base/context.h"
#include "base/result.h"
#include "base/status.h"
#include "storage/store.h"

namespace cox::apiserver {

// Counts of the problems that one repair pass found. All zero in a healthy cluster.
struct RepairCounts {
  int missing_addresses = 0;      // the address of a service has no IPAddress
  int foreign_addresses = 0;      // ... or the IPAddress of another service that does not use it
  int leaked_addresses = 0;       // IPAddress of a service that does not exist or does not use it
  int conflicting_addresses = 0;  // two services with the same address: must be resolved manually
  int missing_ports = 0;
  int leaked_ports = 0;
  int unfixable_ports = 0;  // out of range, or used by two services

  bool operator==(const RepairCounts&) const = default;
};

// Compares the addresses and ports of services with the allocated ones, and corrects the
// allocations. Services are never changed.
//
// A server that crashes between an allocation and the write of the service leaks the allocation. To
// avoid releasing allocations of a service that is being created, an address must be a minute old,
// and a port must be leaked in three consecutive passes, before it is released.
// Threads: one at a time.
// Ownership: the stores and `allocation` outlive this.
class ServiceRepair {
 public:
  static constexpr std::chrono::minutes kInterval{3};
  static constexpr int64_t kAddressGraceSeconds = 60;
  static constexpr int kPortRounds = 3;

  ServiceRepair(const ServiceStores& stores, ServiceAllocation& allocation);

  // Runs one pass. Also called at startup, before services are created.
  Result<RepairCounts> RunOnce(Context& ctx);
  // Runs a pass every kInterval until `ctx` stops. Errors are logged; the next pass retries.
  void Run(Context& ctx);

 private:
  struct Owner {
    std::string ns, name;
  };

  Result<List<core::v1::Service>> Services(Context& ctx) const;
  Status RepairAddresses(Context& ctx, const List<core::v1::Service>& services,
                         RepairCounts& counts);
  Status RepairPorts(Context& ctx, const List<core::v1::Service>& services, RepairCounts& counts);
  Result<bool> Uses(Context& ctx, const Owner& owner, std::string_view ip) const;
  Status Record(Context& ctx, const std::string& ip, const Owner& owner,
                const storage::KeyValue* kv, RepairCounts& counts);
  Status RemoveLeaked(Context& ctx, const storage::KeyValue& kv, std::string_view ip,
                      RepairCounts& counts);

  storage::Store& services_;
  storage::Store& addresses_;
  ServiceAllocation& allocation_;
  std::map<int32_t, int> port_leaks_;  // number of passes that found each port leaked
};

}  // namespace cox::apiserver
