// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/resources.h"

#include <algorithm>

#include "apiserver/endpoints/subresources/subresources.h"

namespace cox::apiserver {
namespace {

bool HasVerb(std::span<const std::string_view> verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const SubresourceInfo* FindSubresource(const KindInfo& kind, std::string_view name) {
  for (const SubresourceInfo& subresource : kind.subresources) {
    if (subresource.name == name) return &subresource;
  }
  return nullptr;
}

// Checks that the path fits the verb, for example that get has a name and that create has none.
Status CheckPath(const RequestInfo& info, const KindInfo& kind) {
  const bool named = !info.name.empty();
  const bool looking = info.verb == "list" || info.verb == "watch";
  const bool needs_name =
      info.verb == "get" || info.verb == "update" || info.verb == "patch" || info.verb == "delete";
  // Only list and watch work across all namespaces.
  const bool across = kind.namespaced && info.namespace_.empty();
  if (HasVerb(kind.verbs, info.verb) && (!across || looking) && needs_name == (named && !looking) &&
      !(info.verb == "create" && named)) {
    return {};
  }
  return across && named ? UnknownResourceError() : MethodNotAllowedError();
}

// The warnings to send for requests on a deprecated kind.
std::span<const std::string_view> DeprecationWarnings(const KindInfo& kind) {
  static constexpr std::string_view kEndpoints[] = {
      "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"};
  static constexpr std::string_view kComponentStatus[] = {
      "v1 ComponentStatus is deprecated in v1.19+"};
  if (!kind.group.empty()) return {};
  if (kind.kind == "Endpoints") return kEndpoints;
  if (kind.kind == "ComponentStatus") return kComponentStatus;
  return {};
}

Status DispatchSubresource(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  const RequestInfo& info = call.info;
  const SubresourceInfo* subresource = FindSubresource(resource.kind(), info.subresource);
  if (subresource == nullptr) return UnknownResourceError();
  // Streams accept every method: HTTP upgrades are sent with GET and with POST.
  if (!IsStreamSubresource(info.subresource) && !HasVerb(subresource->verbs, info.verb)) {
    return MethodNotAllowedError();
  }
  if (SubresourceHandler handle = FindSubresourceHandler(info)) {
    return handle(handlers, call, resource);
  }
  // The other subresources read and write the whole object.
  if (resource.strategy().Subresource(info.subresource) == nullptr) return UnknownResourceError();
  if (info.verb == "get") return handlers.Get(call, resource);
  if (info.verb == "update") return handlers.Update(call, resource);
  if (info.verb == "patch") return handlers.Patch(call, resource);
  return MethodNotAllowedError();
}

Status Dispatch(ResourceHandlers& handlers, Call& call) {
  const RequestInfo& info = call.info;
  // The rest of a proxy path belongs to another server and may have any form.
  const bool proxied = info.subresource == "proxy" && !info.name.empty();
  if (!proxied && (info.trailing || info.path.find("//") != std::string::npos)) {
    return UnknownResourceError();
  }
  // Holds a reference to the resource, which may be removed while the request is handled.
  const ServedSetPtr served = handlers.registry().served();
  const ServedKind* const found = served->Find(info.group, info.version, info.resource);
  if (found == nullptr) return UnknownResourceError();
  const KindInfo& kind = *found->kind;
  if (found->resource == nullptr) {
    // Reviews and bindings are handled but not stored.
    if (TransientHandler handle = FindTransient(info)) return handle(handlers, call);
    return HasVerb(kind.verbs, info.verb) ? UnknownResourceError() : MethodNotAllowedError();
  }
  const ServedResource* const resource = found->resource.get();
  // Namespaces are cluster-scoped although their paths look namespaced.
  const bool in_namespace = !info.namespace_.empty() && kind.plural != "namespaces";
  if (in_namespace && !kind.namespaced) return UnknownResourceError();
  for (std::string_view warning : DeprecationWarnings(kind)) {
    call.Warn(std::string(warning));
    if (call.audit() != nullptr) call.audit()->Annotate("k8s.io/deprecated", "true");
  }
  if (!info.subresource.empty()) return DispatchSubresource(handlers, call, *resource);

  COX_RETURN_IF_ERROR(CheckPath(info, kind));
  if (call.request().method == "HEAD") return MethodNotAllowedError();
  if (info.verb == "get") return handlers.Get(call, *resource);
  if (info.verb == "list") return handlers.List(call, *resource);
  if (info.verb == "watch") return handlers.Watch(call, *resource);
  if (info.verb == "create") return handlers.Create(call, *resource);
  if (info.verb == "update") return handlers.Update(call, *resource);
  if (info.verb == "patch") return handlers.Patch(call, *resource);
  if (info.verb == "delete") return handlers.Delete(call, *resource);
  return handlers.DeleteCollection(call, *resource);
}

}  // namespace

void HandleResource(ResourceHandlers& handlers, const std::shared_ptr<Call>& call) {
  const Status status = Dispatch(handlers, *call);
  if (!status.ok()) call->RespondStatus(status);
}

}  // namespace cox::apiserver
