// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/subresources/subresources.h"

#include "api/core/v1.h"
#include "apiserver/handlers/respond.h"

namespace cox::apiserver {
namespace {

struct Entry {
  std::string_view resource;  // empty: any
  std::string_view subresource;
  void (*handle)(ResourceHandlers&, Call&, const ServedResource&);
};

constexpr Entry kSubresources[] = {
    {"", "scale", HandleScale},
    {"pods", "binding", HandleBinding},
    {"pods", "eviction", HandleEviction},
    {"pods", "log", HandleConnect},
    {"pods", "exec", HandleConnect},
    {"pods", "attach", HandleConnect},
    {"pods", "portforward", HandleConnect},
    {"", "proxy", HandleConnect},
};

}  // namespace

bool HandleSubresource(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  for (const Entry& entry : kSubresources) {
    if (entry.subresource != call.info.subresource) continue;
    if (!entry.resource.empty() && entry.resource != call.info.resource) continue;
    entry.handle(handlers, call, resource);
    return true;
  }
  return false;
}

bool HandleTransient(ResourceHandlers& handlers, Call& call) {
  const RequestInfo& info = call.info;
  if (info.group.empty() && info.resource == "bindings" && info.verb == "create" &&
      info.name.empty() && !info.namespace_.empty()) {
    HandleBinding(handlers, call, handlers.registry().Hub(core::v1::Pod::kKind));
    return true;
  }
  return false;
}

void RespondSuccess(Call& call, int code, const Accepted& accepted) {
  Object status(meta::v1::Status::kKind, GroupVersionKind{"", "v1", "Status"});
  auto* typed = status.As<meta::v1::Status>();
  typed->status = "Success";
  typed->code = code;
  RespondPlain(call, code, status, {.format = accepted.format, .pretty = accepted.pretty});
}

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

}  // namespace cox::apiserver
