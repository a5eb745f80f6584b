// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "coxswain/apply.h"
#include "coxswain/client.h"
#include "dns/dns.h"

namespace cox::dns {

Status WriteDnsService(Context& ctx, Client& admin, const std::vector<std::string>& cluster_dns) {
  if (cluster_dns.empty()) return Status::BadRequest("the DNS Service needs an address");
  core::v1::Service service;
  service.metadata.namespace_ = "kube-system";
  service.metadata.name = "kube-dns";
  // The labels that tools search for. The last one makes every kube-proxy ignore the Service:
  // without endpoints, a proxy would reject queries that the node itself can answer.
  service.metadata.labels = {{"k8s-app", "kube-dns"},
                             {"kubernetes.io/name", "CoreDNS"},
                             {"service.kubernetes.io/service-proxy-name", "coxswain-dns"}};
  service.spec.clusterIP = cluster_dns.front();
  service.spec.clusterIPs = cluster_dns;
  if (cluster_dns.size() > 1) service.spec.ipFamilyPolicy = "RequireDualStack";
  service.spec.ports = {{.name = "dns", .protocol = "UDP", .port = 53},
                        {.name = "dns-tcp", .protocol = "TCP", .port = 53}};
  ApplyOptions options;
  options.field_manager = "coxswain-dns";
  options.force = true;
  return admin.Apply<core::v1::Service>(ctx, std::move(service), options).status();
}

}  // namespace cox::dns
