// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/subresources/subresources.h"

#include "api/core/v1.h"
#include "apiserver/endpoints/verbs/respond.h"

namespace cox::apiserver {
namespace {

struct Entry {
  std::string_view resource;  // empty: any
  std::string_view subresource;
  SubresourceHandler handle;
};

constexpr Entry kSubresources[] = {
    {"", "scale", HandleScale},
    {"pods", "binding", HandleBinding},
    {"pods", "eviction", HandleEviction},
    {"pods", "log", HandleLog},
    {"pods", "exec", HandleExec},
    {"pods", "attach", HandleAttach},
    {"pods", "portforward", HandlePortForward},
    {"", "proxy", HandleProxy},
};

// The legacy /bindings, where only the body contains the Pod's name.
Status HandleBindings(ResourceHandlers& handlers, Call& call) {
  return HandleBinding(handlers, call, handlers.registry().Hub(core::v1::Pod::kKind));
}

struct Transient {
  std::string_view group;
  std::string_view resource;
  bool namespaced;
  TransientHandler handle;
};

constexpr Transient kTransients[] = {
    {"", "bindings", true, HandleBindings},
};

}  // namespace

SubresourceHandler FindSubresourceHandler(const RequestInfo& info) {
  for (const Entry& entry : kSubresources) {
    if (entry.subresource != info.subresource) continue;
    if (entry.resource.empty() || entry.resource == info.resource) return entry.handle;
  }
  return nullptr;
}

TransientHandler FindTransient(const RequestInfo& info) {
  if (info.verb != "create" || !info.name.empty()) return nullptr;
  for (const Transient& transient : kTransients) {
    if (transient.group == info.group && transient.resource == info.resource &&
        transient.namespaced == !info.namespace_.empty()) {
      return transient.handle;
    }
  }
  return nullptr;
}

void RespondSuccess(Call& call, int code, const Accepted& accepted) {
  meta::v1::Status status;
  status.status = "Success";
  status.code = code;
  RespondPlain(call, code, StatusObject(std::move(status)), accepted);
}

}  // namespace cox::apiserver
