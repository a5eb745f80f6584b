// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/discovery/discovery.h"

#include <algorithm>
#include <utility>

#include "api/apidiscovery/v2.h"
#include "api/meta/v1.h"
#include "apiserver/endpoints/discovery/document_hash.h"
#include "object/codec.h"

namespace cox::apiserver {
namespace {

namespace agg = apidiscovery::v2;

// Discovery kinds belong to the meta group in the type tables, but their apiVersion on the wire is
// "v1".
template <class T>
Object MetaObject(T value, std::string_view version = "v1") {
  Object object(T::kKind, GroupVersionKind{"", std::string(version), std::string(T::kKind.kind)});
  *object.As<T>() = std::move(value);
  return object;
}

std::vector<std::string> Strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

meta::v1::APIGroup GroupDocument(const ServedGroup& group) {
  meta::v1::APIGroup document;
  document.name = group.name();
  for (const std::string& version : group.versions()) {
    document.versions.push_back({.groupVersion = group.name() + "/" + version, .version = version});
  }
  document.preferredVersion = document.versions.front();
  return document;
}

// Reports whether a subresource uses a kind of another group version than its resource.
bool IsForeign(const KindInfo& kind, const SubresourceInfo& sub) {
  return sub.group != kind.group || sub.version != kind.version;
}

void AppendResource(const ServedKind& served, List<meta::v1::APIResource>* resources) {
  const KindInfo& kind = *served.kind;
  meta::v1::APIResource& resource = resources->emplace_back();
  resource.name = kind.plural;
  resource.singularName = kind.singular;
  resource.namespaced = kind.namespaced;
  resource.kind = kind.kind;
  resource.verbs = Strings(kind.verbs);
  resource.shortNames = Strings(kind.short_names);
  resource.categories = Strings(kind.categories);
  resource.storageVersionHash = StorageVersionHash(served);
  for (const SubresourceInfo& sub : kind.subresources) {
    meta::v1::APIResource& row = resources->emplace_back();
    row.name = std::string(kind.plural) + "/" + std::string(sub.name);
    row.namespaced = kind.namespaced;
    if (IsForeign(kind, sub)) {
      row.group = sub.group;
      row.version = sub.version;
    }
    row.kind = sub.kind;
    row.verbs = Strings(sub.verbs);
  }
}

agg::APIResourceDiscovery AggregatedResource(const ServedKind& served) {
  const KindInfo& kind = *served.kind;
  auto kind_of = [&](std::string_view group, std::string_view version, std::string_view name,
                     bool named) {
    meta::v1::GroupVersionKind gvk;
    if (named) gvk = {.group = std::string(group), .version = std::string(version)};
    gvk.kind = name;
    return gvk;
  };
  agg::APIResourceDiscovery resource;
  resource.resource = kind.plural;
  resource.responseKind = kind_of(kind.group, kind.version, kind.kind, served.custom);
  resource.scope = kind.namespaced ? agg::kScopeNamespace : agg::kScopeCluster;
  resource.singularResource = kind.singular;
  resource.verbs = Strings(kind.verbs);
  resource.shortNames = Strings(kind.short_names);
  resource.categories = Strings(kind.categories);
  for (const SubresourceInfo& sub : kind.subresources) {
    agg::APISubresourceDiscovery& row = resource.subresources.emplace_back();
    row.subresource = sub.name;
    row.responseKind =
        kind_of(sub.group, sub.version, sub.kind, served.custom || IsForeign(kind, sub));
    row.verbs = Strings(sub.verbs);
  }
  return resource;
}

agg::APIGroupDiscovery AggregatedGroup(const ServedGroup& group) {
  agg::APIGroupDiscovery document;
  document.metadata.name = group.name();
  for (const std::string& version : group.versions()) {
    agg::APIVersionDiscovery& row = document.versions.emplace_back();
    row.version = version;
    row.freshness = agg::kDiscoveryFreshnessCurrent;
    for (const ServedKind& served : group.kinds()) {
      if (served.kind->version == version) row.resources.push_back(AggregatedResource(served));
    }
  }
  return document;
}

DiscoveryDocuments::Aggregated MakeAggregated(agg::APIGroupDiscoveryList list) {
  Object object = Object::Of(std::move(list));
  std::string json;
  EncodeObject(object, Format::kJson, &json);
  std::string etag = "\"" + DocumentHash(json) + "\"";
  return {std::move(object), Bytes::Copy(json), std::move(etag)};
}

}  // namespace

DiscoveryDocuments::DiscoveryDocuments(const ServedSet& served)
    : groups_(MetaObject(meta::v1::APIGroupList{})),
      aggregated_core_{Object(agg::APIGroupDiscoveryList::kKind), {}, {}},
      aggregated_groups_{Object(agg::APIGroupDiscoveryList::kKind), {}, {}},
      paths_{"/api", "/apis", "/apis/"} {
  meta::v1::APIGroupList& list = *groups_.As<meta::v1::APIGroupList>();
  agg::APIGroupDiscoveryList core, others;
  for (const std::shared_ptr<const ServedGroup>& group : served.InDiscoveryOrder()) {
    const std::string& name = group->name();
    const std::string prefix = name.empty() ? "/api" : "/apis/" + name;
    for (const std::string& version : group->versions()) {
      meta::v1::APIResourceList resources;
      resources.groupVersion = GroupVersion{name, version}.ToString();
      for (const ServedKind& kind : group->kinds()) {
        if (kind.kind->version == version) AppendResource(kind, &resources.resources);
      }
      // Like upstream's, the documents of the core group have no apiVersion.
      resources_.emplace(GroupVersion{name, version},
                         MetaObject(std::move(resources), name.empty() ? "" : "v1"));
      paths_.push_back(prefix + "/" + version);
    }
    if (name.empty()) {
      core.items.push_back(AggregatedGroup(*group));
      continue;
    }
    paths_.push_back(prefix);
    list.groups.push_back(GroupDocument(*group));
    group_.emplace(name, MetaObject(GroupDocument(*group)));
    others.items.push_back(AggregatedGroup(*group));
  }
  std::sort(paths_.begin(), paths_.end());
  aggregated_core_ = MakeAggregated(std::move(core));
  aggregated_groups_ = MakeAggregated(std::move(others));
}

Object DiscoveryDocuments::ApiVersions(std::string_view server_address) const {
  meta::v1::APIVersions versions;
  for (const auto& [group_version, resources] : resources_) {
    if (group_version.group.empty()) versions.versions.push_back(group_version.version);
  }
  versions.serverAddressByClientCIDRs.push_back(
      {.clientCIDR = "0.0.0.0/0", .serverAddress = std::string(server_address)});
  return MetaObject(std::move(versions), "");
}

const Object* DiscoveryDocuments::Group(std::string_view group) const {
  const auto found = group_.find(group);
  return found == group_.end() ? nullptr : &found->second;
}

const Object* DiscoveryDocuments::Resources(std::string_view group,
                                            std::string_view version) const {
  const auto found = resources_.find(GroupVersion{std::string(group), std::string(version)});
  return found == resources_.end() ? nullptr : &found->second;
}

std::shared_ptr<const DiscoveryDocuments> Discovery::documents() const {
  std::shared_ptr<const Built> built = built_.Load();
  if (built == nullptr || built->from.lock() != served_()) {
    MutexLock lock(building_);
    // Another request may have built the documents in the meantime.
    const ServedSetPtr now = served_();
    built = built_.Load();
    if (built == nullptr || built->from.lock() != now) {
      built = std::make_shared<const Built>(Built{now, DiscoveryDocuments(*now)});
      built_.Store(built);
    }
  }
  return {built, &built->documents};
}

}  // namespace cox::apiserver
