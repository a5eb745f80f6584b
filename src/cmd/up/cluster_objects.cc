// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/cluster_objects.h"

#include <utility>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "api/rbac/v1.h"
#include "dns/dns.h"

namespace cox::cmd {
namespace {

constexpr char kRbacGroup[] = "rbac.authorization.k8s.io";

ApplyOptions AsUp() {
  ApplyOptions options;
  options.field_manager = "coxswain-up";
  options.force = true;
  return options;
}

Status Bind(Context& ctx, Client& admin, const std::string& name, const std::string& role,
            const std::string& user) {
  rbac::v1::ClusterRoleBinding binding;
  binding.metadata.name = name;
  binding.roleRef = {.apiGroup = kRbacGroup, .kind = "ClusterRole", .name = role};
  binding.subjects = {{.kind = "User", .apiGroup = kRbacGroup, .name = user}};
  return admin.Apply<rbac::v1::ClusterRoleBinding>(ctx, std::move(binding), AsUp()).status();
}

Status WriteDnsRole(Context& ctx, Client& admin) {
  rbac::v1::ClusterRole role;
  role.metadata.name = "coxswain:dns";
  role.rules = {{.verbs = {"list", "watch"},
                 .apiGroups = {""},
                 .resources = {"services", "namespaces", "pods", "nodes"}},
                {.verbs = {"list", "watch"},
                 .apiGroups = {"discovery.k8s.io"},
                 .resources = {"endpointslices"}}};
  COX_RETURN_IF_ERROR(admin.Apply<rbac::v1::ClusterRole>(ctx, std::move(role), AsUp()).status());
  return Bind(ctx, admin, "coxswain:dns", "coxswain:dns", "coxswain:dns");
}

// Writes the endpoints of the Service `kubernetes`, as EndpointSlice and Endpoints.
Status WriteApiEndpoints(Context& ctx, Client& admin, const UpOptions& options) {
  const bool ipv6 = options.advertise_address.find(':') != std::string::npos;
  discovery::v1::EndpointSlice slice;
  slice.metadata = {.name = "kubernetes", .namespace_ = "default"};
  slice.metadata.labels["kubernetes.io/service-name"] = "kubernetes";
  slice.addressType = ipv6 ? "IPv6" : "IPv4";
  discovery::v1::Endpoint endpoint;
  endpoint.addresses = {options.advertise_address};
  endpoint.conditions.ready = true;
  slice.endpoints = {std::move(endpoint)};
  slice.ports = {{.name = "https", .protocol = "TCP", .port = options.ports.api}};
  COX_RETURN_IF_ERROR(
      admin.Apply<discovery::v1::EndpointSlice>(ctx, std::move(slice), AsUp()).status());

  core::v1::Endpoints endpoints;
  endpoints.metadata = {.name = "kubernetes", .namespace_ = "default"};
  endpoints.metadata.labels["endpointslice.kubernetes.io/skip-mirror"] = "true";
  core::v1::EndpointSubset subset;
  subset.addresses = {{.ip = options.advertise_address}};
  subset.ports = {{.name = "https", .port = options.ports.api, .protocol = "TCP"}};
  endpoints.subsets = {std::move(subset)};
  return admin.Apply<core::v1::Endpoints>(ctx, std::move(endpoints), AsUp()).status();
}

}  // namespace

Status WriteClusterObjects(Context& ctx, Client& admin, const UpOptions& options) {
  COX_RETURN_IF_ERROR(Bind(ctx, admin, "coxswain:kubelet-api-admin", "system:kubelet-api-admin",
                           "kube-apiserver-kubelet-client"));
  COX_RETURN_IF_ERROR(WriteDnsRole(ctx, admin));
  if (options.node) COX_RETURN_IF_ERROR(dns::WriteDnsService(ctx, admin, {options.dns_ip}));
  return WriteApiEndpoints(ctx, admin, options);
}

}  // namespace cox::cmd
