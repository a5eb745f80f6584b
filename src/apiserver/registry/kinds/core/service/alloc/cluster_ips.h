// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/networking/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/ip_range.h"
#include "apiserver/registry/kinds/core/service/alloc/port_bitmap.h"
#include "apiserver/registry/store/strategy.h"
#include "storage/store.h"

namespace cox::apiserver {

inline constexpr std::string_view kIpFamilyLabel = "ipaddress.kubernetes.io/ip-family";
inline constexpr std::string_view kManagedByLabel = "ipaddress.kubernetes.io/managed-by";
inline constexpr std::string_view kIpAllocator = "ipallocator.k8s.io";
inline constexpr std::string_view kDefaultServiceCidr = "kubernetes";

// Where services, their addresses, the ranges of those and their ports are kept. Often one store.
//
// Ownership: the stores outlive who uses them.
struct ServiceStores {
  storage::Store& services;
  storage::Store& addresses;
  storage::Store& cidrs;
  storage::Store& ports;

  static ServiceStores All(storage::Store& store) { return {store, store, store, store}; }
};

// The addresses of services. Each one that is taken is an IPAddress object, named as the address
// and pointing to its service: whoever creates it first has the address, so any number of API
// servers can allocate side by side. Where addresses come from say the ServiceCIDR objects.
//
// Threads: all methods may be called concurrently.
// Errors: Conflict with the text clients see when an address cannot be had; others are storage's.
class ClusterIps {
 public:
  // `root` is the prefix of all keys: "/registry".
  ClusterIps(const ServiceStores& stores, std::string root, Random random);

  // Creates the ServiceCIDR "kubernetes" with these ranges, unless it is there.
  Status EnsureDefaultServiceCidr(Context& ctx, const std::vector<std::string>& cidrs,
                                  const Time& now);

  // The address, in canonical form. `dry_run` in `w`: nothing is taken.
  Result<std::string> Allocate(const WriteContext& w, const core::v1::Service& service,
                               std::string_view ip);
  Result<std::string> AllocateNext(const WriteContext& w, const core::v1::Service& service,
                                   std::string_view family);
  // Gives the address back, if it is this service's.
  Status Release(Context& ctx, std::string_view ns, std::string_view name, std::string_view ip);

  // For repair.
  Result<std::vector<IpRange>> Ranges(Context& ctx) const;
  std::string Key(std::string_view ip) const { return prefix_ + std::string(ip); }
  const std::string& prefix() const { return prefix_; }
  static networking::v1::IPAddress MakeAddress(std::string_view ip, std::string_view family,
                                               std::string_view ns, std::string_view name,
                                               const Time& now);

 private:
  // True if the address was free and now is the service's.
  Result<bool> Take(const WriteContext& w, const core::v1::Service& service,
                    const validation::IpAddress& ip);
  Result<std::string> SearchFree(const WriteContext& w, const core::v1::Service& service,
                                 const std::vector<const IpRange*>& ranges);

  storage::Store& store_;  // of IPAddresses
  storage::Store& cidrs_;
  const std::string root_;
  const std::string prefix_;  // of IPAddresses
  const Random random_;
};

// Whose address it is: group "", resource "services".
bool IsParent(const networking::v1::IPAddress& address, std::string_view ns, std::string_view name);

}  // namespace cox::apiserver
