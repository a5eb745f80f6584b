// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/discovery.h"

#include "api/apidiscovery/v2.h"
#include "api/meta/v1.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "sdk/client/response/decode_object.h"
#include "sdk/client/response/status_response.h"

namespace cox::sdk {
namespace {

constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
constexpr Clock::Duration kRetryInterval = std::chrono::seconds(5);
// Limit of remembered lookups of unknown group versions.
constexpr size_t kMaxRequested = 1000;

Status NoMatch(const GroupVersionKind& gvk) {
  return Status::NotFound("no matches for kind " + Quote(gvk.kind) + " in version " +
                          Quote(gvk.group_version().ToString()));
}

Status Unreadable(const std::string& path, const Status& why) {
  return Status::Internal("discovery at " + path + " cannot be read: " + why.message());
}

// Resources in a list omit their group and version if these equal the list's.
Resource MakeResource(const GroupVersion& version, std::string kind, std::string plural,
                      bool namespaced) {
  return Resource::Dynamic({version.group, version.version, std::move(kind)}, std::move(plural),
                           namespaced);
}

}  // namespace

Result<std::string> Discovery::Read(Context& ctx, const std::string& path,
                                    std::string_view accept) {
  COX_ASSIGN_OR_RETURN(net::Response response, sender_.Do(ctx, [&] {
    net::Request request{.method = "GET", .target = path};
    request.headers.Add("accept", std::string(accept));
    request.headers.Add("user-agent", sender_.user_agent());
    return request;
  }));
  std::string storage;
  const std::string_view body = Join(response.body, &storage);
  if (response.status >= 300) return StatusFromResponse(response.status, response.headers, body);
  return storage.empty() ? std::string(body) : std::move(storage);
}

Result<std::optional<Discovery::Found>> Discovery::FetchAggregated(Context& ctx,
                                                                   std::string_view path) {
  const std::string at(path);
  Result<std::string> text = Read(ctx, at, kAggregated);
  if (text.status().Is(Reason::kNotAcceptable)) return std::optional<Found>();
  if (!text.ok()) return text.status();
  const Result<json::TypeMeta> names = json::PeekTypeMeta(*text);
  if (!names.ok()) return Unreadable(at, names.status());
  if (names->kind != "APIGroupDiscoveryList") return std::optional<Found>();
  const auto list = json::Decode<apidiscovery::v2::APIGroupDiscoveryList>(*text);
  if (!list.ok()) return Unreadable(at, list.status());
  Found found;
  for (const auto& group : list->items) {
    for (const auto& version : group.versions) {
      for (const auto& resource : version.resources) {
        // Entries without a kind have only subresources.
        if (!resource.responseKind || resource.responseKind->kind.empty()) continue;
        Resource one =
            MakeResource({group.metadata.name, version.version}, resource.responseKind->kind,
                         resource.resource, resource.scope == "Namespaced");
        GroupVersionKind gvk = one.gvk;
        found.emplace(std::move(gvk), std::move(one));
      }
    }
  }
  return std::optional(std::move(found));
}

Result<Discovery::Found> Discovery::FetchVersion(Context& ctx, const GroupVersion& version) {
  const std::string path =
      version.group.empty() ? "/api/" + version.version : "/apis/" + version.ToString();
  Result<std::string> text = Read(ctx, path, "application/json");
  if (text.status().Is(Reason::kNotFound)) return Found();
  if (!text.ok()) return text.status();
  const auto list = json::Decode<meta::v1::APIResourceList>(*text);
  if (!list.ok()) return Unreadable(path, list.status());
  Found found;
  for (const meta::v1::APIResource& resource : list->resources) {
    if (resource.name.find('/') != std::string::npos) continue;  // a subresource
    Resource one = MakeResource(version, resource.kind, resource.name, resource.namespaced);
    GroupVersionKind gvk = one.gvk;
    found.emplace(std::move(gvk), std::move(one));
  }
  return found;
}

Result<Discovery::Found> Discovery::Fetch(Context& ctx, const GroupVersion& version) {
  COX_ASSIGN_OR_RETURN(std::optional<Found> all,
                       FetchAggregated(ctx, version.group.empty() ? "/api" : "/apis"));
  if (all) return std::move(*all);
  return FetchVersion(ctx, version);
}

Result<Resource> Discovery::Find(Context& ctx, const GroupVersionKind& gvk) {
  const Clock::SteadyTime now = ctx.clock().Monotonic();
  {
    const MutexLock lock(mu_);
    if (const auto known = known_.find(gvk); known != known_.end()) return known->second;
    const auto asked = requested_.find(gvk.group_version());
    if (asked != requested_.end() && now - asked->second < kRetryInterval) return NoMatch(gvk);
  }
  COX_ASSIGN_OR_RETURN(Found found, Fetch(ctx, gvk.group_version()));
  const MutexLock lock(mu_);
  if (requested_.size() >= kMaxRequested) requested_.clear();
  requested_[gvk.group_version()] = now;
  known_.merge(found);
  const auto known = known_.find(gvk);
  if (known == known_.end()) return NoMatch(gvk);
  return known->second;
}

}  // namespace cox::sdk
