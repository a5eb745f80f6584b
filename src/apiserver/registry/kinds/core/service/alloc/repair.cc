// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/repair.h"

#include <optional>
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/service/alloc/port_requests.h"
#include "apiserver/registry/kinds/core/service/alloc/stored.h"
#include "apiserver/registry/kinds/core/service/service_rules.h"
#include "apiserver/request/now.h"
#include "base/log.h"

namespace cox::apiserver {
namespace {

namespace nv = networking::v1;
using core::v1::Service;

constexpr int64_t kPageSize = 500;

// Lists a prefix in pages, all at the same revision.
Result<std::vector<storage::KeyValue>> ReadAll(storage::Store& store, Context& ctx,
                                               const std::string& prefix) {
  std::vector<storage::KeyValue> all;
  storage::ListOptions options;
  options.limit = kPageSize;
  while (true) {
    COX_ASSIGN_OR_RETURN(storage::Page page, store.List(ctx, prefix, options));
    for (storage::KeyValue& kv : page.items) all.push_back(std::move(kv));
    if (!page.more || all.empty()) return all;
    options.at = page.revision;
    options.start = all.back().key + '\0';
  }
}

}  // namespace

ServiceRepair::ServiceRepair(const ServiceStores& stores, ServiceAllocation& allocation)
    : services_(stores.services), addresses_(stores.addresses), allocation_(allocation) {}

Result<List<Service>> ServiceRepair::Services(Context& ctx) const {
  COX_ASSIGN_OR_RETURN(std::vector<storage::KeyValue> items,
                       ReadAll(services_, ctx, allocation_.options().root + "/services/specs/"));
  List<Service> services;
  for (const storage::KeyValue& kv : items) {
    COX_ASSIGN_OR_RETURN(Service service, DecodeStored<Service>(kv.value.view()));
    services.push_back(std::move(service));
  }
  return services;
}

// Reads the service again before a change: services may have changed since they were listed.
Result<bool> ServiceRepair::Uses(Context& ctx, const Owner& owner, std::string_view ip) const {
  const std::string key =
      allocation_.options().root + "/services/specs/" + owner.ns + "/" + owner.name;
  COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, services_.Get(ctx, key));
  if (!found.kv) return false;
  COX_ASSIGN_OR_RETURN(const Service service, DecodeStored<Service>(found.kv->value.view()));
  if (!NeedsClusterIp(service)) return false;
  for (const std::string& text : service.spec.clusterIPs) {
    const std::optional<validation::IpAddress> parsed = validation::ParseIpSloppy(text);
    if (parsed && parsed->ToString() == ip) return true;
  }
  return false;
}

Status ServiceRepair::RemoveLeaked(Context& ctx, const storage::KeyValue& kv, std::string_view ip,
                                   RepairCounts& counts) {
  COX_ASSIGN_OR_RETURN(const nv::IPAddress address, DecodeStored<nv::IPAddress>(kv.value.view()));
  // Only addresses that the allocator created are released.
  const std::string* manager = address.metadata.labels.Get(kManagedByLabel);
  if (manager == nullptr || *manager != kIpAllocator) return {};
  const int64_t age = NowOf(ctx).unix_seconds() - address.metadata.creationTimestamp.unix_seconds();
  if (age < kAddressGraceSeconds) return {};
  if (address.spec.parentRef) {
    const Owner owner{address.spec.parentRef->namespace_, address.spec.parentRef->name};
    COX_ASSIGN_OR_RETURN(const bool in_use, Uses(ctx, owner, ip));
    if (in_use) return {};
  }
  COX_ASSIGN_OR_RETURN(storage::WriteResult removed, addresses_.Delete(ctx, kv.key, kv.revision));
  if (removed.written) ++counts.leaked_addresses;
  return {};
}

// Makes the IPAddress of `ip` refer to `owner`. `kv` is the stored IPAddress; null if there is
// none.
Status ServiceRepair::Record(Context& ctx, const std::string& ip, const Owner& owner,
                             const storage::KeyValue* kv, RepairCounts& counts) {
  if (kv != nullptr) {
    Result<nv::IPAddress> address = DecodeStored<nv::IPAddress>(kv->value.view());
    if (address.ok() && IsParent(*address, owner.ns, owner.name)) return {};
    if (address.ok() && address->spec.parentRef) {
      const Owner other{address->spec.parentRef->namespace_, address->spec.parentRef->name};
      COX_ASSIGN_OR_RETURN(const bool others, Uses(ctx, other, ip));
      if (others) return {};  // both use it, or it was reallocated just now
    }
  }
  COX_ASSIGN_OR_RETURN(const bool in_use, Uses(ctx, owner, ip));
  if (!in_use) return {};
  const std::optional<validation::IpAddress> parsed = validation::ParseIpSloppy(ip);
  const std::string wanted = EncodeStored(
      ClusterIps::MakeAddress(ip, FamilyOf(*parsed), owner.ns, owner.name, NowOf(ctx)));
  if (kv == nullptr) {
    Result<storage::Revision> created =
        addresses_.Create(ctx, allocation_.cluster_ips().Key(ip), wanted);
    if (created.ok()) ++counts.missing_addresses;
    if (created.ok() || created.status().Is(Reason::kAlreadyExists)) return {};
    return created.status();
  }
  // parentRef is immutable for clients, so the object is replaced as a whole.
  COX_ASSIGN_OR_RETURN(storage::WriteResult updated,
                       addresses_.Update(ctx, kv->key, wanted, kv->revision));
  if (updated.written) ++counts.foreign_addresses;
  return {};
}

Status ServiceRepair::RepairAddresses(Context& ctx, const List<Service>& services,
                                      RepairCounts& counts) {
  ClusterIps& ips = allocation_.cluster_ips();
  COX_ASSIGN_OR_RETURN(std::vector<storage::KeyValue> items,
                       ReadAll(addresses_, ctx, ips.prefix()));
  std::map<std::string, const storage::KeyValue*, std::less<>> recorded;
  for (const storage::KeyValue& kv : items) recorded[kv.key.substr(ips.prefix().size())] = &kv;

  std::map<std::string, Owner> owners;
  for (const Service& service : services) {
    if (!NeedsClusterIp(service) || !IsClusterIpSet(service)) continue;
    for (const std::string& text : service.spec.clusterIPs) {
      const std::optional<validation::IpAddress> ip = validation::ParseIpSloppy(text);
      if (!ip) continue;
      const Owner owner{service.metadata.namespace_, service.metadata.name};
      if (owners.emplace(ip->ToString(), owner).second) continue;
      ++counts.conflicting_addresses;
      COX_ERROR(ctx.log(), Status::Conflict("address is another service's"),
                "Two services have one cluster IP; recreate one of them", {"ip", ip->ToString()},
                {"namespace", owner.ns}, {"name", owner.name});
    }
  }
  for (const auto& [ip, owner] : owners) {
    const auto found = recorded.find(ip);
    const storage::KeyValue* kv = found == recorded.end() ? nullptr : found->second;
    COX_RETURN_IF_ERROR(Record(ctx, ip, owner, kv, counts));
    if (found != recorded.end()) recorded.erase(found);
  }
  for (const auto& [ip, kv] : recorded) {
    COX_RETURN_IF_ERROR(RemoveLeaked(ctx, *kv, ip, counts));
  }
  return {};
}

Status ServiceRepair::RepairPorts(Context& ctx, const List<Service>& services,
                                  RepairCounts& counts) {
  const PortRange& range = allocation_.node_ports().range();
  std::set<int32_t> used;
  RepairCounts found;
  for (const Service& service : services) {
    for (int32_t port : PortsOf(service)) {
      if (range.Contains(port) && used.insert(port).second) continue;
      ++counts.unfixable_ports;
      COX_ERROR(ctx.log(), Status::Conflict("port is out of range or another service's"),
                "A node port cannot be recorded; recreate the service", {"port", port},
                {"namespace", service.metadata.namespace_}, {"name", service.metadata.name});
    }
  }
  std::map<int32_t, int> leaks;
  COX_RETURN_IF_ERROR(allocation_.node_ports().Modify(ctx, [&](PortBitmap& ports) {
    found = {};
    leaks.clear();
    for (int32_t port = range.first; port <= range.last; ++port) {
      const bool in_use = used.contains(port);
      if (in_use && !ports.Has(port)) {
        ports.Set(port);
        ++found.missing_ports;
      }
      if (in_use || !ports.Has(port)) continue;
      const auto before = port_leaks_.find(port);
      const int rounds = 1 + (before == port_leaks_.end() ? 0 : before->second);
      if (rounds < kPortRounds) {
        leaks[port] = rounds;
      } else {
        ports.Clear(port);
        ++found.leaked_ports;
      }
    }
    return Status();
  }));
  port_leaks_ = std::move(leaks);
  counts.missing_ports = found.missing_ports;
  counts.leaked_ports = found.leaked_ports;
  return {};
}

Result<RepairCounts> ServiceRepair::RunOnce(Context& ctx) {
  RepairCounts counts;
  // Services are listed first: addresses that are allocated later have no listed service, but are
  // too young to be released.
  COX_ASSIGN_OR_RETURN(const List<Service> services, Services(ctx));
  COX_RETURN_IF_ERROR(RepairAddresses(ctx, services, counts));
  COX_RETURN_IF_ERROR(RepairPorts(ctx, services, counts));
  return counts;
}

void ServiceRepair::Run(Context& ctx) {
  while (ctx.Sleep(kInterval).ok()) {
    Result<RepairCounts> counts = RunOnce(ctx);
    if (!counts.ok() && !ctx.Done()) {
      COX_ERROR(ctx.log(), counts.status(), "Could not repair the allocations of services");
    } else if (counts.ok() && *counts != RepairCounts()) {
      COX_INFO(ctx.log(), "Repaired the allocations of services",
               {"missingAddresses", counts->missing_addresses},
               {"leakedAddresses", counts->leaked_addresses},
               {"missingPorts", counts->missing_ports}, {"leakedPorts", counts->leaked_ports});
    }
  }
}

}  // namespace cox::apiserver
