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

// What a round of repair found and put right. Nothing of it happens in a healthy cluster.
struct RepairCounts {
  int missing_addresses = 0;      // a service has an address that is recorded for nobody
  int foreign_addresses = 0;      // ... or for somebody who is not there or does not use it
  int leaked_addresses = 0;       // recorded for a service that is gone or does not use it
  int conflicting_addresses = 0;  // two services have one address: only a person can decide
  int missing_ports = 0;
  int leaked_ports = 0;
  int unfixable_ports = 0;  // out of range, or two services'

  bool operator==(const RepairCounts&) const = default;
};

// Compares what services have with what is recorded as taken, and corrects the record. Services are
// never changed.
//
// A server that dies between taking an address and storing its service leaves a leak. So that
// nothing is taken from a service that is just being created, an address must be a minute old and a
// port must be seen leaked in three rounds before it is given back.
// Threads: one at a time.
// Ownership: the stores and `allocation` outlive this.
class ServiceRepair {
 public:
  static constexpr std::chrono::minutes kInterval{3};
  static constexpr int64_t kAddressGraceSeconds = 60;
  static constexpr int kPortRounds = 3;

  ServiceRepair(const ServiceStores& stores, ServiceAllocation& allocation);

  // One round: called at the start, before services are created.
  Result<RepairCounts> RunOnce(Context& ctx);
  // A round every kInterval until `ctx` stops. Failures are logged and met again in the next round.
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
  std::map<int32_t, int> port_leaks_;  // in how many rounds each was seen
};

}  // namespace cox::apiserver
