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

// The stores of services, of their addresses, of the address ranges and of node ports. Often the
// same store.
//
// Ownership: the stores outlive their users.
struct ServiceStores {
  storage::Store& services;
  storage::Store& addresses;
  storage::Store& cidrs;
  storage::Store& ports;

  static ServiceStores All(storage::Store& store) { return {store, store, store, store}; }
};

// The cluster IPs of services. Each allocated address is an IPAddress object with the address as
// its name and a reference to its service. Creating the object allocates the address, so any number
// of API servers can allocate concurrently. ServiceCIDR objects define the ranges.
//
// Threads: all methods may be called concurrently.
// Errors: Conflict, with upstream's texts, if an address cannot be allocated; errors of storage.
class ClusterIps {
 public:
  // `root` is the prefix of all keys: "/registry".
  ClusterIps(const ServiceStores& stores, std::string root, Random random);

  // Creates the ServiceCIDR "kubernetes" with these ranges, unless it exists.
  Status EnsureDefaultServiceCidr(Context& ctx, const std::vector<std::string>& cidrs,
                                  const Time& now);

  // Return the address in canonical form. With `dry_run` in `w` they allocate nothing.
  Result<std::string> Allocate(const WriteContext& w, const core::v1::Service& service,
                               std::string_view ip);
  Result<std::string> AllocateNext(const WriteContext& w, const core::v1::Service& service,
                                   std::string_view family);
  // Releases the address if it belongs to this service.
  Status Release(Context& ctx, std::string_view ns, std::string_view name, std::string_view ip);

  // For repair.
  Result<std::vector<IpRange>> Ranges(Context& ctx) const;
  std::string Key(std::string_view ip) const { return prefix_ + std::string(ip); }
  const std::string& prefix() const { return prefix_; }
  static networking::v1::IPAddress MakeAddress(std::string_view ip, std::string_view family,
                                               std::string_view ns, std::string_view name,
                                               const Time& now);

 private:
  // True if the address was free and is now allocated to the service.
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

// Whether the address belongs to this service: group "", resource "services".
bool IsParent(const networking::v1::IPAddress& address, std::string_view ns, std::string_view name);

}  // namespace cox::apiserver
