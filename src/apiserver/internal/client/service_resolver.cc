// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/client/service_resolver.h"

#include <algorithm>

#include "api/core/v1.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using core::v1::Service;

Result<ServiceAddress> AddressOf(const Service& service, uint16_t port) {
  const core::v1::ServiceSpec& spec = service.spec;
  if (spec.type == "ExternalName") return ServiceAddress{.host = spec.externalName, .port = port};
  const bool has = std::any_of(spec.ports.begin(), spec.ports.end(),
                               [&](const core::v1::ServicePort& p) { return p.port == port; });
  if (!has) {
    return Status::Unavailable("no service port " + std::to_string(port) + " found for service " +
                               Quote(service.metadata.name));
  }
  if (spec.clusterIP.empty() || spec.clusterIP == "None") {
    return ServiceAddress{
        .host = service.metadata.name + "." + service.metadata.namespace_ + ".svc", .port = port};
  }
  return ServiceAddress{.host = spec.clusterIP, .port = port};
}

}  // namespace

ServiceResolver ResolveServices(const Registry& registry) {
  const ResourceStore& services = registry.Hub(Service::kKind).store();
  return [&services](Context& ctx, const std::string& ns, const std::string& name,
                     uint16_t port) -> Result<ServiceAddress> {
    Result<Object> found = services.Get(ctx, ns, name, /*from_cache=*/true);
    // A Service that was just created may not be in the cache yet.
    if (found.status().Is(Reason::kNotFound)) found = services.Get(ctx, ns, name);
    if (found.status().Is(Reason::kNotFound)) {
      return Status::NotFound("service " + Quote(name) + " not found");
    }
    if (!found.ok()) return found.status();
    return AddressOf(*found->As<Service>(), port);
  };
}

}  // namespace cox::apiserver
