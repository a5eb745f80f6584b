// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apiserver/filters/authz/authorization.h"
#include "apiserver/filters/authz/rbac/rbac_guard.h"
#include "apiserver/filters/fencing/fenced_store.h"
#include "apiserver/filters/fencing/fencing.h"
#include "apiserver/registry/kinds/core/service/alloc/repair.h"
#include "apiserver/registry/kinds/core/service/alloc/service_allocation.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/server/server.h"

namespace cox::apiserver {

// The registry of a server with the components that take part in writes: fencing, the RBAC
// escalation check, and the allocation of Service addresses and ports.
//
// Threads: As its parts.
class ServerRegistry {
 public:
  // All arguments must outlive it.
  ServerRegistry(const Context& ctx, const ServerOptions& options,
                 const ApiServer::StoreOf& storage, MetricsRegistry& metrics,
                 const Authorization& authorization);

  Registry& registry() { return registry_; }
  const Fencing& fencing() const { return fencing_; }

  // Waits for the caches and reconciles the allocations with the Services. Otherwise, after the
  // crash of a server, unrecorded addresses and ports could be allocated twice. May be called again
  // if it failed.
  Status Prepare(Context& ctx);
  // Repairs allocations until `ctx` stops.
  void RunRepair(Context& ctx) { repair_.Run(ctx); }

 private:
  Fencing fencing_;
  FencedStores fenced_;
  Registry registry_;
  RbacGuard rbac_guard_;
  ServiceAllocation allocation_;
  ServiceRepair repair_;  // for one thread
};

}  // namespace cox::apiserver
