// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/health/health.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kStartHooks[] = {
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
};
constexpr std::string_view kOpenApiHooks[] = {
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
};

struct Endpoint {
  std::string_view path;
  uint8_t on;
};
constexpr Endpoint kEndpoints[] = {{"/livez", HealthCheck::kLivez},
                                   {"/readyz", HealthCheck::kReadyz},
                                   {"/healthz", HealthCheck::kHealthz}};

}  // namespace

std::vector<HealthCheck> ApiServerChecks(std::function<Status()> etcd,
                                         std::function<bool()> caches_synced,
                                         std::shared_ptr<const std::atomic<bool>> started,
                                         std::shared_ptr<const std::atomic<bool>> draining,
                                         const std::vector<HealthCheck>& storage) {
  auto fine = [] { return Status(); };
  auto running = [started] {
    return started->load() ? Status() : Status::Unavailable("not finished");
  };
  const uint8_t live = HealthCheck::kLivez | HealthCheck::kHealthz;
  std::vector<HealthCheck> checks = {
      {"ping", fine},
      {"log", fine},
      {"loopback-serving-certificate", fine, live},
      {"etcd", etcd},
      {"etcd-readiness", etcd, HealthCheck::kReadyz},
  };
  checks.insert(checks.end(), storage.begin(), storage.end());
  checks.push_back({"informer-sync",
                    [caches_synced] {
                      return caches_synced() ? Status()
                                             : Status::Unavailable("caches are not filled yet");
                    },
                    HealthCheck::kReadyz});
  auto hook = [&](std::string_view name) {
    checks.push_back({"poststarthook/" + std::string(name), running});
  };
  for (std::string_view name : kStartHooks) hook(name);
  checks.push_back({"autoregister-completion", running});
  for (std::string_view name : kOpenApiHooks) hook(name);
  checks.push_back({"shutdown",
                    [draining] {
                      return draining->load() ? Status::Unavailable("process is shutting down")
                                              : Status();
                    },
                    HealthCheck::kReadyz});
  return checks;
}

std::vector<std::string> Health::paths() const {
  std::vector<std::string> paths;
  for (const Endpoint& endpoint : kEndpoints) {
    paths.emplace_back(endpoint.path);
    for (const HealthCheck& check : checks_) {
      if (check.on & endpoint.on) paths.push_back(std::string(endpoint.path) + "/" + check.name);
    }
  }
  return paths;
}

Health::Health(std::vector<HealthCheck> checks) : checks_(std::move(checks)) {
  static_assert(std::size(kEndpoints) == kEndpointCount);
  GaugeVec& passes =
      metrics_.AddGaugeVec({"kubernetes_healthcheck",
                            "Whether a health check passes (1) or not (0).", Stability::kStable},
                           {"type", "name"});
  CounterVec& total = metrics_.AddCounterVec(
      {"kubernetes_healthchecks_total", "Results of health checks.", Stability::kStable},
      {"type", "name", "status"});
  for (size_t endpoint = 0; endpoint < kEndpointCount; ++endpoint) {
    const std::string_view type = kEndpoints[endpoint].path.substr(1);
    for (const HealthCheck& check : checks_) {
      Series& series = series_[endpoint].emplace_back();
      if ((check.on & kEndpoints[endpoint].on) == 0) continue;
      series = {&passes.With({type, check.name}), &total.With({type, check.name, "success"}),
                &total.With({type, check.name, "error"})};
    }
  }
}

Status Health::Run(size_t endpoint, size_t check) const {
  Status status = checks_[check].check();
  const Series& series = series_[endpoint][check];
  series.passes->Set(status.ok() ? 1 : 0);
  (status.ok() ? series.success : series.error)->Inc();
  return status;
}

bool Health::Handle(Call& call) const {
  const std::string& path = call.info.path;
  for (size_t i = 0; i < kEndpointCount; ++i) {
    const Endpoint& endpoint = kEndpoints[i];
    if (path == endpoint.path || path == std::string(endpoint.path) + "/") {
      Report(call, i);
      return true;
    }
    if (!path.starts_with(std::string(endpoint.path) + "/")) continue;
    const std::string name = path.substr(endpoint.path.size() + 1);
    for (size_t check = 0; check < checks_.size(); ++check) {
      if (checks_[check].name != name || !(checks_[check].on & endpoint.on)) continue;
      const Status status = Run(i, check);
      call.RespondText(status.ok() ? 200 : 500,
                       status.ok() ? "ok" : "internal server error: " + status.message() + "\n");
      return true;
    }
    return false;
  }
  return false;
}

std::string Health::Slis() const {
  for (size_t endpoint = 0; endpoint < kEndpointCount; ++endpoint) {
    for (size_t check = 0; check < checks_.size(); ++check) {
      if (checks_[check].on & kEndpoints[endpoint].on) (void)Run(endpoint, check);
    }
  }
  return metrics_.Render();
}

void Health::Report(Call& call, size_t endpoint) const {
  const std::vector<std::string> excluded = call.query.All("exclude");
  const std::string name(kEndpoints[endpoint].path.substr(1));
  std::string lines;
  bool well = true;
  for (size_t i = 0; i < checks_.size(); ++i) {
    const HealthCheck& check = checks_[i];
    if (!(check.on & kEndpoints[endpoint].on)) continue;
    if (std::find(excluded.begin(), excluded.end(), check.name) != excluded.end()) {
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    if (Run(endpoint, i).ok()) {
      lines += "[+]" + check.name + " ok\n";
    } else {
      // Security: the reason is withheld, because the path is accessible to unauthenticated
      // clients.
      lines += "[-]" + check.name + " failed: reason withheld\n";
      well = false;
    }
  }
  if (!well) return call.RespondText(500, lines + name + " check failed\n");
  if (!call.query.Has("verbose")) return call.RespondText(200, "ok");
  call.RespondText(200, lines + name + " check passed\n");
}

}  // namespace cox::apiserver
