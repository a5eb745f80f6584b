// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/service_allocation.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "apiserver/registry/kinds/core/service/alloc/ip_families.h"
#include "apiserver/registry/kinds/core/service/alloc/port_requests.h"
#include "apiserver/registry/kinds/core/service/service_rules.h"
#include "apiserver/registry/store/names.h"
#include "base/log.h"
#include "base/random.h"

namespace cox::apiserver {
namespace {

using core::v1::Service;

// The timeout of a release. Repair releases the rest.
constexpr std::chrono::seconds kReleaseTime{10};

std::vector<std::string> FamiliesOf(const std::vector<std::string>& ranges) {
  std::vector<std::string> families;
  for (const std::string& cidr : ranges) {
    if (const std::optional<IpRange> range = IpRange::Parse(cidr)) {
      families.emplace_back(range->family());
    }
  }
  return families;
}

// Not derived from the request: allocations must be released even if the request was canceled.
Context ReleaseContext(const Context& ctx) {
  return Context(ctx.clock(), ctx.log()).WithTimeout(kReleaseTime);
}

ServiceAllocation::Options WithDefaults(ServiceAllocation::Options options) {
  if (!options.random) options.random = RandomBelow;
  return options;
}

}  // namespace

// The allocated values, and the values to release when the change is stored.
class ServiceAllocation::Transaction final : public WriteTransaction {
 public:
  Transaction(ServiceAllocation& allocation, const WriteContext& w, const Service& service)
      : allocation_(allocation),
        ctx_(w.ctx),
        dry_run_(w.dry_run),
        ns_(service.metadata.namespace_),
        name_(service.metadata.name) {}
  ~Transaction() override {
    if (!committed_) Release(taken_ips_, taken_ports_);
  }

  void Commit() override {
    committed_ = true;
    Release(released_ips_, released_ports_);
  }

  void Took(std::string ip) { taken_ips_.push_back(std::move(ip)); }
  void ReleaseLater(std::string ip) { released_ips_.push_back(std::move(ip)); }
  void Took(PortChanges ports) {
    taken_ports_ = std::move(ports.taken);
    released_ports_ = std::move(ports.released);
  }
  void ReleaseLater(std::vector<int32_t> ports) { released_ports_ = std::move(ports); }

 private:
  void Release(const List<std::string>& ips, const std::vector<int32_t>& ports) {
    if (dry_run_ || (ips.empty() && ports.empty())) return;
    Context ctx = ReleaseContext(ctx_);
    auto report = [&](const Status& status) {
      if (!status.ok()) {
        COX_ERROR(ctx.log(), status, "Could not release IPs or ports", {"namespace", ns_},
                  {"name", name_});
      }
    };
    for (const std::string& ip : ips) {
      report(allocation_.cluster_ips_.Release(ctx, ns_, name_, ip));
    }
    if (ports.empty()) return;
    report(allocation_.node_ports_.Modify(ctx, [&](PortBitmap& bitmap) {
      for (int32_t port : ports) {
        if (bitmap.range().Contains(port)) bitmap.Clear(port);
      }
      return Status();
    }));
  }

  ServiceAllocation& allocation_;
  const Context ctx_;
  const bool dry_run_;
  const std::string ns_, name_;
  bool committed_ = false;
  std::vector<std::string> taken_ips_, released_ips_;
  std::vector<int32_t> taken_ports_, released_ports_;
};

ServiceAllocation::ServiceAllocation(const ServiceStores& stores, Options options)
    : options_(WithDefaults(std::move(options))),
      families_(FamiliesOf(options_.cluster_ip_ranges)),
      cluster_ips_(stores, options_.root, options_.random),
      node_ports_(stores.ports, options_.root, options_.node_ports) {}

Status ServiceAllocation::Start(Context& ctx, const Time& now) {
  if (families_.empty() || families_.size() != options_.cluster_ip_ranges.size()) {
    return Status::BadRequest("service cluster IP ranges are no CIDRs in canonical form");
  }
  return cluster_ips_.EnsureDefaultServiceCidr(ctx, options_.cluster_ip_ranges, now);
}

// Allocates an address for each family from index `already` on: the requested one, or any.
Status ServiceAllocation::AllocateIps(const WriteContext& w, Service& service, size_t already,
                                      Transaction& transaction) {
  List<std::string>& ips = service.spec.clusterIPs;
  for (size_t i = already; i < service.spec.ipFamilies.size(); ++i) {
    const bool chosen = i < ips.size();
    Result<std::string> ip =
        chosen ? cluster_ips_.Allocate(w, service, ips[i])
               : cluster_ips_.AllocateNext(w, service, service.spec.ipFamilies[i]);
    if (ip.ok()) {
      transaction.Took(*ip);
      if (!chosen) ips.push_back(std::move(*ip));
      continue;
    }
    if (!ip.status().Is(Reason::kConflict)) return ip.status();
    if (!chosen) {
      return Status::Internal("Internal error occurred: failed to allocate a serviceIP: " +
                              ip.status().message());
    }
    return NewInvalid(
        "", "Service", service.metadata.name,
        {FieldError::Invalid(FieldPath("spec").Child("clusterIPs"), ips,
                             "failed to allocate IP " + ips[i] + ": " + ip.status().message())});
  }
  if (!ips.empty()) service.spec.clusterIP = ips[0];
  return {};
}

Status ServiceAllocation::UpdateIps(const WriteContext& w, Service& service, const Service& old,
                                    Transaction& transaction) {
  if (KeepsPreferDualStack(service, &old)) return {};
  if (!NeedsClusterIp(old)) {
    if (!NeedsClusterIp(service) || IsHeadless(service)) return {};
    return AllocateIps(w, service, 0, transaction);
  }
  if (!NeedsClusterIp(service)) {
    if (!IsClusterIpSet(old)) return {};
    for (const std::string& ip : old.spec.clusterIPs) transaction.ReleaseLater(ip);
    return {};
  }
  if (!IsClusterIpSet(old) || IsHeadless(service)) return {};  // validation rejects invalid changes
  if (old.spec.clusterIPs.size() == 1 && service.spec.ipFamilies.size() == 2) {
    return AllocateIps(w, service, 1, transaction);
  }
  if (old.spec.clusterIPs.size() == 2 && service.spec.ipFamilies.size() == 1) {
    transaction.ReleaseLater(old.spec.clusterIPs[1]);
  }
  return {};
}

Status ServiceAllocation::CreatePorts(const WriteContext& w, Service& service,
                                      Transaction& transaction) {
  if (!NeedsNodePort(service)) return {};
  const Service asked = service;
  PortChanges changes;
  auto take = [&](PortBitmap& ports) -> Status {
    service = asked;  // an earlier attempt may have changed it
    COX_ASSIGN_OR_RETURN(changes, TakePortsForCreate(service, ports, options_.random));
    return {};
  };
  if (w.dry_run) {
    COX_ASSIGN_OR_RETURN(PortBitmap ports, node_ports_.Read(w.ctx));
    return take(ports);
  }
  COX_RETURN_IF_ERROR(node_ports_.Modify(w.ctx, take));
  transaction.Took(std::move(changes));
  return {};
}

Status ServiceAllocation::UpdatePorts(const WriteContext& w, Service& service, const Service& old,
                                      Transaction& transaction) {
  if (!NeedsNodePort(service)) {
    transaction.ReleaseLater(PortsOf(old));
    return {};
  }
  const Service asked = service;
  PortChanges changes;
  auto take = [&](PortBitmap& ports) -> Status {
    service = asked;
    COX_ASSIGN_OR_RETURN(changes, TakePortsForUpdate(service, old, ports, options_.random));
    return {};
  };
  if (w.dry_run) {
    COX_ASSIGN_OR_RETURN(PortBitmap ports, node_ports_.Read(w.ctx));
    return take(ports);
  }
  COX_RETURN_IF_ERROR(node_ports_.Modify(w.ctx, take));
  transaction.Took(std::move(changes));
  return {};
}

Result<std::unique_ptr<WriteTransaction>> ServiceAllocation::BeforeCreate(const WriteContext& w,
                                                                          Object& object) {
  Service* service = object.As<Service>();
  if (service == nullptr) return std::unique_ptr<WriteTransaction>();
  // Addresses refer to the service by name, so the name must be set.
  if (service->metadata.name.empty() && !service->metadata.generateName.empty()) {
    service->metadata.name = GenerateName(service->metadata.generateName);
  }
  NormalizeClusterIps(*service, nullptr);
  COX_RETURN_IF_ERROR(InitIpFamilies(*service, nullptr, families_));
  auto transaction = std::make_unique<Transaction>(*this, w, *service);
  if (NeedsClusterIp(*service) && !IsHeadless(*service)) {
    COX_RETURN_IF_ERROR(AllocateIps(w, *service, 0, *transaction));
  }
  COX_RETURN_IF_ERROR(CreatePorts(w, *service, *transaction));
  return std::unique_ptr<WriteTransaction>(std::move(transaction));
}

Result<std::unique_ptr<WriteTransaction>> ServiceAllocation::BeforeUpdate(const WriteContext& w,
                                                                          Object& object,
                                                                          const Object& old) {
  Service* service = object.As<Service>();
  const Service* before = old.As<Service>();
  if (service == nullptr || before == nullptr) return std::unique_ptr<WriteTransaction>();
  NormalizeClusterIps(*service, before);
  KeepAllocatedValues(*service, *before);
  COX_RETURN_IF_ERROR(InitIpFamilies(*service, before, families_));
  auto transaction = std::make_unique<Transaction>(*this, w, *before);
  COX_RETURN_IF_ERROR(UpdateIps(w, *service, *before, *transaction));
  COX_RETURN_IF_ERROR(UpdatePorts(w, *service, *before, *transaction));
  return std::unique_ptr<WriteTransaction>(std::move(transaction));
}

void ServiceAllocation::AfterDelete(const WriteContext& w, const Object& object) {
  const Service* service = object.As<Service>();
  if (service == nullptr) return;
  Transaction transaction(*this, w, *service);
  if (NeedsClusterIp(*service) && IsClusterIpSet(*service)) {
    for (const std::string& ip : service->spec.clusterIPs) transaction.ReleaseLater(ip);
  }
  transaction.ReleaseLater(PortsOf(*service));
  transaction.Commit();
}

}  // namespace cox::apiserver
