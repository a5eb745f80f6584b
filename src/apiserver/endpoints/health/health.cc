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

bool Health::Handle(Call& call) const {
  const std::string& path = call.info.path;
  for (const Endpoint& endpoint : kEndpoints) {
    if (path == endpoint.path || path == std::string(endpoint.path) + "/") {
      Report(call, endpoint.path.substr(1), endpoint.on);
      return true;
    }
    if (!path.starts_with(std::string(endpoint.path) + "/")) continue;
    const std::string name = path.substr(endpoint.path.size() + 1);
    for (const HealthCheck& check : checks_) {
      if (check.name != name || !(check.on & endpoint.on)) continue;
      const Status status = check.check();
      call.RespondText(status.ok() ? 200 : 500,
                       status.ok() ? "ok" : "internal server error: " + status.message() + "\n");
      return true;
    }
    return false;
  }
  return false;
}

std::string Health::Slis() const {
  std::string text =
      "# HELP kubernetes_healthcheck [STABLE] Whether a check of health passes (1) or not (0).\n"
      "# TYPE kubernetes_healthcheck gauge\n";
  for (const Endpoint& endpoint : kEndpoints) {
    for (const HealthCheck& check : checks_) {
      if (!(check.on & endpoint.on)) continue;
      text += "kubernetes_healthcheck{name=\"" + check.name + "\",type=\"" +
              std::string(endpoint.path.substr(1)) + "\"} " + (check.check().ok() ? "1" : "0") +
              "\n";
    }
  }
  return text;
}

void Health::Report(Call& call, std::string_view endpoint, uint8_t on) const {
  const std::vector<std::string> excluded = call.query.All("exclude");
  std::string lines;
  bool well = true;
  for (const HealthCheck& check : checks_) {
    if (!(check.on & on)) continue;
    if (std::find(excluded.begin(), excluded.end(), check.name) != excluded.end()) {
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    if (check.check().ok()) {
      lines += "[+]" + check.name + " ok\n";
    } else {
      // Security: the reason is withheld, because the path is accessible to unauthenticated
      // clients.
      lines += "[-]" + check.name + " failed: reason withheld\n";
      well = false;
    }
  }
  if (!well) return call.RespondText(500, lines + std::string(endpoint) + " check failed\n");
  if (!call.query.Has("verbose")) return call.RespondText(200, "ok");
  call.RespondText(200, lines + std::string(endpoint) + " check passed\n");
}

}  // namespace cox::apiserver
