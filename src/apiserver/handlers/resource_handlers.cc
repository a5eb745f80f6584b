// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/resource_handlers.h"

#include <algorithm>

#include "apiserver/handlers/subresources/subresources.h"

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

// Whether the path has just what the verb needs: one object, or a collection in one place.
Status CheckPath(const RequestInfo& info, const KindInfo& kind) {
  const bool named = !info.name.empty();
  const bool looking = info.verb == "list" || info.verb == "watch";
  const bool needs_name =
      info.verb == "get" || info.verb == "update" || info.verb == "patch" || info.verb == "delete";
  // Objects live in namespaces: across all of them one can only look.
  const bool across = kind.namespaced && info.namespace_.empty();
  if (HasVerb(kind.verbs, info.verb) && (!across || looking) && needs_name == (named && !looking) &&
      !(info.verb == "create" && named)) {
    return {};
  }
  return across && named ? UnknownResourceError() : MethodNotAllowedError();
}

}  // namespace

void ResourceHandlers::Handle(const std::shared_ptr<Call>& call) {
  Status status = Dispatch(*call);
  if (!status.ok()) call->RespondStatus(status);
}

Status ResourceHandlers::Dispatch(Call& call) {
  const RequestInfo& info = call.info;
  // What follows a proxy is the path of another server, in whatever form.
  const bool proxied = info.subresource == "proxy" && !info.name.empty();
  if (!proxied && (info.trailing || info.path.find("//") != std::string::npos)) {
    return UnknownResourceError();
  }
  const ServedResource* resource = registry_.Find(info.group, info.version, info.resource);
  if (resource == nullptr) {
    // Reviews and bindings are asked, not stored.
    if (TransientHandler handle = FindTransient(info)) return handle(*this, call);
    const KindInfo* kind =
        Scheme::Builtin().FindResource({info.group, info.version, info.resource});
    return kind != nullptr && !HasVerb(kind->verbs, info.verb) ? MethodNotAllowedError()
                                                               : UnknownResourceError();
  }
  const KindInfo& kind = resource->kind();
  // Namespaces themselves are cluster-wide although their paths look otherwise.
  const bool in_namespace = !info.namespace_.empty() && kind.plural != "namespaces";
  if (in_namespace && !kind.namespaced) return UnknownResourceError();
  for (std::string_view warning : DeprecationWarnings(kind)) {
    call.Warn(std::string(warning));
    if (call.audit() != nullptr) call.audit()->Annotate("k8s.io/deprecated", "true");
  }
  if (!info.subresource.empty()) return DispatchSubresource(call, *resource);

  COX_RETURN_IF_ERROR(CheckPath(info, kind));
  if (call.request().method == "HEAD") return MethodNotAllowedError();
  if (info.verb == "get") return Get(call, *resource);
  if (info.verb == "list") return List(call, *resource);
  if (info.verb == "watch") return Watch(call, *resource);
  if (info.verb == "create") return Create(call, *resource);
  if (info.verb == "update") return Update(call, *resource);
  if (info.verb == "patch") return Patch(call, *resource);
  if (info.verb == "delete") return Delete(call, *resource);
  return DeleteCollection(call, *resource);
}

Status ResourceHandlers::DispatchSubresource(Call& call, const ServedResource& resource) {
  const RequestInfo& info = call.info;
  const SubresourceInfo* subresource = FindSubresource(resource.kind(), info.subresource);
  if (subresource == nullptr) return UnknownResourceError();
  // Streams answer to every method: HTTP upgrades come by GET and by POST.
  if (!IsStreamSubresource(info.subresource) && !HasVerb(subresource->verbs, info.verb)) {
    return MethodNotAllowedError();
  }
  if (SubresourceHandler handle = FindSubresourceHandler(info)) {
    return handle(*this, call, resource);
  }
  // The rest are ways of reading and writing the whole object.
  if (resource.strategy().Subresource(info.subresource) == nullptr) return UnknownResourceError();
  if (info.verb == "get") return Get(call, resource);
  if (info.verb == "update") return Update(call, resource);
  if (info.verb == "patch") return Patch(call, resource);
  return MethodNotAllowedError();
}

}  // namespace cox::apiserver
