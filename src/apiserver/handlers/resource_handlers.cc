// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/resource_handlers.h"

#include <algorithm>

#include "apiserver/handlers/subresources/subresources.h"

namespace cox::apiserver {
namespace {

bool HasVerb(std::span<const std::string_view> verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

bool IsStream(std::string_view subresource) {
  return subresource == "exec" || subresource == "attach" || subresource == "portforward" ||
         subresource == "proxy";
}

const SubresourceInfo* FindSubresource(const KindInfo& kind, std::string_view name) {
  for (const SubresourceInfo& subresource : kind.subresources) {
    if (subresource.name == name) return &subresource;
  }
  return nullptr;
}

}  // namespace

void ResourceHandlers::Handle(const std::shared_ptr<Call>& shared) {
  Call& call = *shared;
  const RequestInfo& info = call.info;
  const ServedResource* resource = registry_.Find(info.group, info.version, info.resource);
  if (info.trailing || info.path.find("//") != std::string::npos) {
    return call.RespondStatus(UnknownResourceError());
  }
  if (resource == nullptr) {
    // Reviews and bindings are asked, not stored.
    const KindInfo* kind =
        Scheme::Builtin().FindResource({info.group, info.version, info.resource});
    if (HandleTransient(*this, call)) return;
    return call.RespondStatus(kind != nullptr && !HasVerb(kind->verbs, info.verb)
                                  ? MethodNotAllowedError()
                                  : UnknownResourceError());
  }
  const KindInfo& kind = resource->kind();
  // Namespaces themselves are cluster-wide although their paths look otherwise.
  const bool in_namespace = !info.namespace_.empty() && kind.plural != "namespaces";
  if (in_namespace && !kind.namespaced) return call.RespondStatus(UnknownResourceError());
  for (std::string_view warning : DeprecationWarnings(kind)) call.Warn(std::string(warning));

  if (!info.subresource.empty()) {
    const SubresourceInfo* subresource = FindSubresource(kind, info.subresource);
    if (subresource == nullptr) return call.RespondStatus(UnknownResourceError());
    // Streams answer to every method: HTTP upgrades come by GET and by POST.
    const bool stream = IsStream(info.subresource);
    if (!stream && !HasVerb(subresource->verbs, info.verb)) {
      return call.RespondStatus(MethodNotAllowedError());
    }
    if (HandleSubresource(*this, call, *resource)) return;
    // The rest are ways of reading and writing the whole object.
    if (resource->strategy().Subresource(info.subresource) == nullptr) {
      return call.RespondStatus(UnknownResourceError());
    }
    if (info.verb == "get") return Get(call, *resource);
    if (info.verb == "update") return Update(call, *resource);
    if (info.verb == "patch") return Patch(call, *resource);
    return call.RespondStatus(MethodNotAllowedError());
  }

  // Objects live in namespaces: across all of them one can only look.
  const bool across = kind.namespaced && info.namespace_.empty();
  const bool looking = info.verb == "list" || info.verb == "watch";
  const bool named = !info.name.empty();
  const bool needs_name =
      info.verb == "get" || info.verb == "update" || info.verb == "patch" || info.verb == "delete";
  if (!HasVerb(kind.verbs, info.verb) || (across && !looking) ||
      needs_name != (named && !looking) || (info.verb == "create" && named)) {
    return call.RespondStatus(across && named ? UnknownResourceError() : MethodNotAllowedError());
  }
  if (call.request().method == "HEAD") return call.RespondStatus(MethodNotAllowedError());
  if (info.verb == "get") return Get(call, *resource);
  if (info.verb == "list") return List(call, *resource);
  if (info.verb == "watch") return Watch(call, *resource);
  if (info.verb == "create") return Create(call, *resource);
  if (info.verb == "update") return Update(call, *resource);
  if (info.verb == "patch") return Patch(call, *resource);
  if (info.verb == "delete") return Delete(call, *resource);
  DeleteCollection(call, *resource);
}

}  // namespace cox::apiserver
