// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "api/apidiscovery/v2.h"
#include "api/meta/v1.h"
#include "coxswain/discovery.h"
#include "object/codec/json/json.h"
#include "object/scheme.h"
#include "sdk/client/response/decode_object.h"
#include "sdk/client/response/status_response.h"

namespace cox {
namespace {

constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

// Collects resources and marks the preferred version of each.
class Collector {
 public:
  // Versions of one group must be added in the server's order.
  void Add(const GroupVersion& version, std::string kind, std::string plural, bool namespaced,
           List<std::string> verbs) {
    if (kind.empty() || plural.find('/') != std::string::npos) return;  // subresources
    const bool first = seen_.insert({version.group, plural}).second;
    served_.resources.push_back({.resource = Make({version.group, version.version, std::move(kind)},
                                                  std::move(plural), namespaced),
                                 .verbs = std::move(verbs),
                                 .preferred = first});
  }
  void Fail(const GroupVersion& version, Status why) {
    served_.failed.emplace_back(version, std::move(why));
  }
  ServedResources Take() { return std::move(served_); }

 private:
  static Resource Make(GroupVersionKind gvk, std::string plural, bool namespaced) {
    const KindInfo* info = Scheme::Builtin().FindKind(gvk);
    if (info != nullptr && info->plural == plural) return Resource::FromKind(*info);
    return Resource::Dynamic(std::move(gvk), std::move(plural), namespaced);
  }

  ServedResources served_;
  std::set<std::pair<std::string, std::string>> seen_;
};

Result<std::string> Read(Context& ctx, Client& client, const std::string& path,
                         std::string_view accept) {
  net::Request request{.method = "GET", .target = path};
  request.headers.Add("accept", std::string(accept));
  COX_ASSIGN_OR_RETURN(const net::Response response,
                       client.transport().Do(ctx, std::move(request)));
  std::string storage;
  const std::string_view body = sdk::Join(response.body, &storage);
  if (response.status >= 300) {
    return sdk::StatusFromResponse(response.status, response.headers, body);
  }
  return storage.empty() ? std::string(body) : std::move(storage);
}

template <class T>
Result<T> ReadAs(Context& ctx, Client& client, const std::string& path, std::string_view accept) {
  COX_ASSIGN_OR_RETURN(const std::string text, Read(ctx, client, path, accept));
  Result<T> decoded = json::Decode<T>(text);
  if (!decoded.ok()) {
    return Status::Internal("discovery at " + path +
                            " cannot be read: " + decoded.status().message());
  }
  return decoded;
}

void AddVersion(Context& ctx, Client& client, const GroupVersion& version, Collector& collector) {
  const std::string path = (version.group.empty() ? "/api/" : "/apis/") + version.ToString();
  auto list = ReadAs<meta::v1::APIResourceList>(ctx, client, path, "application/json");
  if (!list.ok()) return collector.Fail(version, list.status());
  for (meta::v1::APIResource& resource : list->resources) {
    collector.Add(version, std::move(resource.kind), std::move(resource.name), resource.namespaced,
                  std::move(resource.verbs));
  }
}

// For servers without aggregated discovery: `text` is their unaggregated response.
Status AddVersions(Context& ctx, Client& client, std::string_view path, const std::string& text,
                   Collector& collector) {
  if (path == "/api") {
    COX_ASSIGN_OR_RETURN(const auto core, json::Decode<meta::v1::APIVersions>(text));
    for (const std::string& version : core.versions) {
      AddVersion(ctx, client, {"", version}, collector);
    }
    return {};
  }
  COX_ASSIGN_OR_RETURN(const auto groups, json::Decode<meta::v1::APIGroupList>(text));
  for (const meta::v1::APIGroup& group : groups.groups) {
    const std::string& preferred = group.preferredVersion.version;
    if (!preferred.empty()) AddVersion(ctx, client, {group.name, preferred}, collector);
    for (const auto& version : group.versions) {
      if (version.version == preferred) continue;
      AddVersion(ctx, client, {group.name, version.version}, collector);
    }
  }
  return {};
}

void AddGroup(apidiscovery::v2::APIGroupDiscovery& group, Collector& collector) {
  for (auto& version : group.versions) {
    const GroupVersion name{group.metadata.name, version.version};
    // Stale: cached data of an unavailable aggregated server, which may be outdated.
    if (version.freshness == apidiscovery::v2::kDiscoveryFreshnessStale) {
      collector.Fail(name, Status::Unavailable("stale GroupVersion discovery: " + name.ToString()));
      continue;
    }
    for (auto& resource : version.resources) {
      if (!resource.responseKind) continue;
      collector.Add(name, resource.responseKind->kind, std::move(resource.resource),
                    resource.scope == apidiscovery::v2::kScopeNamespace, std::move(resource.verbs));
    }
  }
}

Status AddAll(Context& ctx, Client& client, const std::string& path, Collector& collector) {
  Result<std::string> text = Read(ctx, client, path, kAggregated);
  if (text.status().Is(Reason::kNotAcceptable)) text = Read(ctx, client, path, "application/json");
  if (!text.ok()) return text.status();
  COX_ASSIGN_OR_RETURN(const json::TypeMeta names, json::PeekTypeMeta(*text));
  if (names.kind != "APIGroupDiscoveryList") {
    return AddVersions(ctx, client, path, *text, collector);
  }
  COX_ASSIGN_OR_RETURN(auto list, json::Decode<apidiscovery::v2::APIGroupDiscoveryList>(*text));
  for (auto& group : list.items) AddGroup(group, collector);
  return {};
}

}  // namespace

bool ServedResource::Can(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const Resource* ServedResources::Find(const GroupVersionKind& gvk) const {
  const auto found = std::find_if(resources.begin(), resources.end(),
                                  [&](const auto& one) { return one.resource.gvk == gvk; });
  return found == resources.end() ? nullptr : &found->resource;
}

Result<ServedResources> DiscoverAll(Context& ctx, Client& client) {
  Collector collector;
  for (const char* path : {"/api", "/apis"}) {
    const Status status = AddAll(ctx, client, path, collector);
    if (!status.ok()) return status.WithContext(std::string("discovery at ") + path);
  }
  return collector.Take();
}

}  // namespace cox
