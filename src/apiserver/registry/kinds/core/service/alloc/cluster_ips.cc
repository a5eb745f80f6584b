// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/cluster_ips.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/service/alloc/stored.h"
#include "apiserver/registry/store/names.h"
#include "object/type/raw_json.h"

namespace cox::apiserver {
namespace {

namespace nv = networking::v1;

// The number of random addresses to try before all allocated ones are listed. Unless the range is
// nearly full, one of the first attempts succeeds, at the cost of one write each.
constexpr int kRandomTries = 16;

bool IsReady(const nv::ServiceCIDR& cidr) {
  if (cidr.metadata.deletionTimestamp) return false;
  for (const meta::v1::Condition& condition : cidr.status.conditions) {
    if (condition.type == "Ready") return condition.status == "True";
  }
  return true;  // no condition: ready
}

meta::v1::ManagedFieldsEntry OwnedByServer(std::string_view fields, const Time& now) {
  meta::v1::ManagedFieldsEntry entry;
  entry.manager = "kube-apiserver";
  entry.operation = "Update";
  entry.apiVersion = "networking.k8s.io/v1";
  entry.time = now;
  entry.fieldsType = "FieldsV1";
  entry.fieldsV1 = RawJson{std::string(fields)};
  return entry;
}

}  // namespace

bool IsParent(const nv::IPAddress& address, std::string_view ns, std::string_view name) {
  if (!address.spec.parentRef) return false;
  const nv::ParentReference& parent = *address.spec.parentRef;
  return parent.group.empty() && parent.resource == "services" && parent.namespace_ == ns &&
         parent.name == name;
}

ClusterIps::ClusterIps(const ServiceStores& stores, std::string root, Random random)
    : store_(stores.addresses),
      cidrs_(stores.cidrs),
      root_(std::move(root)),
      prefix_(root_ + "/ipaddresses/"),
      random_(std::move(random)) {}

nv::IPAddress ClusterIps::MakeAddress(std::string_view ip, std::string_view family,
                                      std::string_view ns, std::string_view name, const Time& now) {
  nv::IPAddress address;
  meta::v1::ObjectMeta& meta = address.metadata;
  meta.name = ip;
  meta.uid = NewUid();
  meta.creationTimestamp = now.Rfc3339Copy();
  meta.labels[kIpFamilyLabel] = family;
  meta.labels[kManagedByLabel] = kIpAllocator;
  meta.managedFields.push_back(OwnedByServer(
      R"({"f:metadata":{"f:labels":{".":{},"f:ipaddress.kubernetes.io/ip-family":{},)"
      R"("f:ipaddress.kubernetes.io/managed-by":{}}},"f:spec":{"f:parentRef":{".":{},)"
      R"("f:name":{},"f:namespace":{},"f:resource":{}}}})",
      meta.creationTimestamp));
  nv::ParentReference& parent = address.spec.parentRef.emplace();
  parent.resource = "services";
  parent.namespace_ = ns;
  parent.name = name;
  return address;
}

Status ClusterIps::EnsureDefaultServiceCidr(Context& ctx, const std::vector<std::string>& cidrs,
                                            const Time& now) {
  nv::ServiceCIDR object;
  object.metadata.name = kDefaultServiceCidr;
  object.metadata.uid = NewUid();
  object.metadata.creationTimestamp = now.Rfc3339Copy();
  object.metadata.managedFields.push_back(
      OwnedByServer(R"({"f:spec":{"f:cidrs":{}}})", object.metadata.creationTimestamp));
  object.spec.cidrs = cidrs;
  meta::v1::Condition& ready = object.status.conditions.emplace_back();
  ready.type = "Ready";
  ready.status = "True";
  ready.lastTransitionTime = object.metadata.creationTimestamp;
  ready.message = "Kubernetes default Service CIDR is ready";
  Result<storage::Revision> created =
      cidrs_.Create(ctx, root_ + "/servicecidrs/" + object.metadata.name, EncodeStored(object));
  if (!created.ok() && !created.status().Is(Reason::kAlreadyExists)) return created.status();
  return {};
}

Result<std::vector<IpRange>> ClusterIps::Ranges(Context& ctx) const {
  COX_ASSIGN_OR_RETURN(storage::Page page, cidrs_.List(ctx, root_ + "/servicecidrs/", {}));
  std::vector<IpRange> ranges;
  for (const storage::KeyValue& kv : page.items) {
    Result<nv::ServiceCIDR> cidr = DecodeStored<nv::ServiceCIDR>(kv.value.view());
    if (!cidr.ok() || !IsReady(*cidr)) continue;
    for (const std::string& text : cidr->spec.cidrs) {
      if (std::optional<IpRange> range = IpRange::Parse(text)) ranges.push_back(std::move(*range));
    }
  }
  return ranges;
}

Result<bool> ClusterIps::Take(const WriteContext& w, const core::v1::Service& service,
                              const validation::IpAddress& ip) {
  const std::string text = ip.ToString();
  if (w.dry_run) {
    COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, store_.Get(w.ctx, Key(text)));
    return !found.kv.has_value();
  }
  const nv::IPAddress address =
      MakeAddress(text, FamilyOf(ip), service.metadata.namespace_, service.metadata.name, w.now);
  Result<storage::Revision> created = store_.Create(w.ctx, Key(text), EncodeStored(address));
  if (created.ok()) return true;
  if (created.status().Is(Reason::kAlreadyExists)) return false;
  return created.status();
}

Result<std::string> ClusterIps::Allocate(const WriteContext& w, const core::v1::Service& service,
                                         std::string_view text) {
  const std::optional<validation::IpAddress> ip = validation::ParseIpSloppy(text);
  if (!ip) return Status::Internal("failed to parse service IP \"" + std::string(text) + "\"");
  COX_ASSIGN_OR_RETURN(const std::vector<IpRange> ranges, Ranges(w.ctx));
  // Ranges may overlap: the smallest one that contains the address applies.
  const IpRange* best = nullptr;
  for (const IpRange& range : ranges) {
    if (range.Contains(*ip) && (best == nullptr || range.prefix() > best->prefix())) best = &range;
  }
  if (best == nullptr) {
    return Status::Conflict("the provided network does not match the current range");
  }
  if (!best->Allocatable(*ip)) {
    return Status::Conflict("the provided IP (" + ip->ToString() +
                            ") is not in the valid range. The range of valid IPs is " +
                            best->cidr());
  }
  COX_ASSIGN_OR_RETURN(const bool taken, Take(w, service, *ip));
  if (!taken) return Status::Conflict("provided IP is already allocated");
  return ip->ToString();
}

Result<std::string> ClusterIps::AllocateNext(const WriteContext& w,
                                             const core::v1::Service& service,
                                             std::string_view family) {
  COX_ASSIGN_OR_RETURN(const std::vector<IpRange> ranges, Ranges(w.ctx));
  std::vector<const IpRange*> usable;
  for (const IpRange& range : ranges) {
    if (range.family() == family && range.size() > 0) usable.push_back(&range);
  }
  if (usable.empty()) return Status::Conflict("range is full");
  for (int i = 0; i < kRandomTries; ++i) {
    const IpRange& range = *usable[random_(usable.size())];
    const uint64_t upper = range.size() - range.lower_band();
    if (upper == 0) continue;
    const validation::IpAddress ip = range.At(range.lower_band() + random_(upper));
    COX_ASSIGN_OR_RETURN(const bool taken, Take(w, service, ip));
    if (taken) return ip.ToString();
  }
  return SearchFree(w, service, usable);
}

Result<std::string> ClusterIps::SearchFree(const WriteContext& w, const core::v1::Service& service,
                                           const std::vector<const IpRange*>& ranges) {
  storage::ListOptions keys_only;
  keys_only.keys_only = true;
  COX_ASSIGN_OR_RETURN(storage::Page page, store_.List(w.ctx, prefix_, keys_only));
  std::set<std::string, std::less<>> used;
  for (const storage::KeyValue& kv : page.items) used.insert(kv.key.substr(prefix_.size()));
  auto search = [&](const IpRange& range, uint64_t begin,
                    uint64_t end) -> Result<std::optional<std::string>> {
    for (uint64_t i = begin; i < end; ++i) {
      const validation::IpAddress ip = range.At(i);
      std::string text = ip.ToString();
      if (used.contains(text)) continue;
      COX_ASSIGN_OR_RETURN(const bool taken, Take(w, service, ip));
      if (taken) return std::optional(std::move(text));
    }
    return std::optional<std::string>();
  };
  for (const IpRange* range : ranges) {
    COX_ASSIGN_OR_RETURN(std::optional<std::string> ip,
                         search(*range, range->lower_band(), range->size()));
    if (ip) return std::move(*ip);
  }
  for (const IpRange* range : ranges) {
    COX_ASSIGN_OR_RETURN(std::optional<std::string> ip, search(*range, 0, range->lower_band()));
    if (ip) return std::move(*ip);
  }
  return Status::Conflict("range is full");
}

Status ClusterIps::Release(Context& ctx, std::string_view ns, std::string_view name,
                           std::string_view text) {
  const std::optional<validation::IpAddress> ip = validation::ParseIpSloppy(text);
  if (!ip) return {};
  const std::string key = Key(ip->ToString());
  COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, store_.Get(ctx, key));
  std::optional<storage::KeyValue> kv = std::move(found.kv);
  while (kv) {
    COX_ASSIGN_OR_RETURN(nv::IPAddress address, DecodeStored<nv::IPAddress>(kv->value.view()));
    if (!IsParent(address, ns, name)) return {};
    COX_ASSIGN_OR_RETURN(storage::WriteResult deleted, store_.Delete(ctx, key, kv->revision));
    if (deleted.written) return {};
    kv = std::move(deleted.current);
  }
  return {};
}

}  // namespace cox::apiserver
