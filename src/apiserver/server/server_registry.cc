// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server/server_registry.h"

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "apiserver/registry/served/served.h"
#include "apiserver/request/now.h"
#include "base/random.h"

namespace cox::apiserver {
namespace {

// Each resource may have its own storage, or its own encryption.
ServiceStores ServiceStoresFrom(const ApiServer::StoreOf& storage) {
  return {.services = storage("", "services"),
          .addresses = storage("networking.k8s.io", "ipaddresses"),
          .cidrs = storage("networking.k8s.io", "servicecidrs"),
          .ports = storage("", "servicenodeportallocations")};
}

}  // namespace

ServerRegistry::ServerRegistry(const Context& ctx, const ServerOptions& options,
                               const ApiServer::StoreOf& storage, MetricsRegistry& metrics,
                               const Authorization& authorization)
    : fencing_(authorization),
      fenced_(fencing_),
      registry_(ctx, {.storage = [this, &storage](const KindInfo& kind) -> storage::Store& {
                        return fenced_.Over(storage(kind.group, kind.plural));
                      },
                      .root = options.etcd_prefix,
                      .metrics = &metrics,
                      .event_ttl = options.event_ttl,
                      .serves =
                          [](const KindInfo& kind) {
                            return IsServedByDefault(kind.group, kind.version, kind.plural);
                          }}),
      rbac_guard_(registry_, authorization, authorization.rbac()),
      allocation_(
          ServiceStoresFrom(storage),
          {.cluster_ip_ranges = options.service_cluster_ip_ranges,
           .node_ports = PortRange::Parse(options.service_node_port_range).value_or(PortRange{}),
           .root = options.etcd_prefix,
           .random = RandomBelow}),
      repair_(ServiceStoresFrom(storage), allocation_) {
  fencing_.set_leases(registry_.Hub(coordination::v1::Lease::kKind).store());
  registry_.Hub(core::v1::Service::kKind).store().set_hooks(&allocation_);
  rbac_guard_.Install();
}

Status ServerRegistry::Prepare(Context& ctx) {
  COX_RETURN_IF_ERROR(registry_.WaitReady(ctx));
  COX_RETURN_IF_ERROR(allocation_.Start(ctx, NowOf(ctx)));
  return repair_.RunOnce(ctx).status();
}

}  // namespace cox::apiserver
