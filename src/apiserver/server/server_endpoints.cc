// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server/server_endpoints.h"

#include "base/build_info.h"

namespace cox::apiserver {
namespace {

// The Kubernetes version of the API, which clients compare.
constexpr char kVersion[] = "v1.36.4";

VersionInfo MakeVersion() {
  const BuildInfo& build = GetBuildInfo();
  VersionInfo info;
  info.git_version = build.git_version;
  info.git_commit = build.git_commit;
  info.git_tree_state = build.git_tree_state;
  info.build_date = build.build_date;
  info.go_version = "none";
  info.compiler = "g++ " __VERSION__;
  info.platform = "linux/amd64";
  return info;
}

void AddBuildInfo(const VersionInfo& info, MetricsRegistry& metrics) {
  metrics
      .AddGaugeVec({"kubernetes_build_info",
                    "Always 1. The labels contain the version of the program.", Stability::kBeta},
                   {"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date",
                    "go_version", "compiler", "platform"})
      .With({info.major, info.minor, info.git_version, info.git_commit, info.git_tree_state,
             info.build_date, info.go_version, info.compiler, info.platform})
      .Set(1);
}

HistogramVec& AddWatchListSeconds(MetricsRegistry& metrics) {
  return metrics.AddHistogramVec(
      {"apiserver_watch_list_duration_seconds",
       "Seconds from a watch with initial events to the bookmark that marks their end.",
       Stability::kBeta},
      {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60},
      {"group", "version", "resource", "scope"});
}

CurrentServedSet ServedBy(const Registry& registry) {
  return [&registry] { return registry.served(); };
}

// The components that upstream reports, by name.
std::vector<ComponentCheck> ComponentChecks(const ServerEndpoints::Parts& parts) {
  return {LocalComponent("controller-manager", parts.options.component_ports.controller_manager),
          {"etcd-0",
           [health = parts.etcd_health](Context&) -> Result<std::string> {
             COX_RETURN_IF_ERROR(health());
             return std::string("ok");
           }},
          LocalComponent("scheduler", parts.options.component_ports.scheduler)};
}

OwnEndpoints OwnEndpointsOf(const ServerEndpoints::Parts& parts) {
  OwnEndpoints own{.port = parts.own_port};
  for (const std::string& text : parts.options.service_cluster_ip_ranges) {
    if (const auto range = validation::ParseCidrSloppy(text)) own.service_ranges.push_back(*range);
  }
  return own;
}

}  // namespace

ServerEndpoints::ServerEndpoints(const Context& ctx, const Parts& parts)
    : admission_metrics_(parts.metrics),
      webhooks_(std::make_shared<WebhookConnections>(ctx, ResolveServices(parts.registry))),
      admission_(MakeAdmission({.registry = parts.registry,
                                .authorizer = parts.authorization,
                                .webhooks = webhooks_,
                                .metrics = &admission_metrics_,
                                .configs = parts.options.admission_configs},
                               parts.options.enabled_admission_plugins,
                               parts.options.disabled_admission_plugins)),
      resources_(parts.registry, admission_, parts.options.min_request_timeout),
      connector_(ctx, parts.authorization, parts.options.kubelets, OwnEndpointsOf(parts)),
      reviews_({.authenticator = parts.authenticator,
                .authorizer = parts.authorization,
                .tokens = parts.tokens,
                .resources = resources_}),
      components_(ComponentChecks(parts)),
      issuer_(*parts.tokens, parts.options.advertise_address),
      discovery_(ServedBy(parts.registry)),
      openapi_(ServedBy(parts.registry), kVersion),
      health_(ApiServerChecks(
          parts.etcd_health, [&registry = parts.registry] { return registry.ready(); },
          parts.started, parts.draining, parts.options.storage_checks)),
      router_({.resources = resources_,
               .discovery = discovery_,
               .openapi = openapi_,
               .health = health_,
               .reviews = reviews_,
               .components = components_,
               .issuer = issuer_,
               .metrics = parts.metrics,
               .server_address = parts.options.advertise_address,
               .version = MakeVersion(),
               .started = ctx.clock().Now(),
               .flags = parts.options.flags,
               .fairness = parts.fairness}) {
  resources_.set_connector(&connector_);
  resources_.set_watch_list_seconds(&AddWatchListSeconds(parts.metrics));
  AddBuildInfo(MakeVersion(), parts.metrics);
}

}  // namespace cox::apiserver
