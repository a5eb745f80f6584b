// SPDX-License-Identifier: Apache-2.0
#include "injector.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sidecar {
namespace {

using cox::core::v1::Container;
using cox::core::v1::Pod;

bool Has(const cox::List<Container>& containers, const char* name) {
  return std::any_of(containers.begin(), containers.end(),
                     [name](const Container& each) { return each.name == name; });
}

cox::core::v1::SecurityContext Unprivileged() {
  cox::core::v1::SecurityContext context;
  context.allowPrivilegeEscalation = false;
  context.readOnlyRootFilesystem = true;
  context.runAsNonRoot = true;
  context.runAsUser = 1337;
  context.capabilities.emplace().drop = {"ALL"};
  return context;
}

Container Proxy(const InjectorOptions& options) {
  Container proxy;
  proxy.name = kProxyName;
  proxy.image = options.proxy_image;
  proxy.ports.push_back({.name = "proxy", .containerPort = options.proxy_port});
  proxy.resources.requests["cpu"] = cox::Quantity::Milli(10);
  proxy.securityContext = Unprivileged();
  // Passes the Pod's name to the proxy.
  cox::core::v1::EnvVar pod_name{.name = "POD_NAME"};
  pod_name.valueFrom.emplace().fieldRef.emplace().fieldPath = "metadata.name";
  proxy.env.push_back(std::move(pod_name));
  return proxy;
}

Container Init(const InjectorOptions& options) {
  Container init;
  init.name = kInitName;
  init.image = options.init_image;
  init.args = {"--redirect-to", std::to_string(options.proxy_port)};
  // Redirection requires NET_ADMIN; all other capabilities are dropped.
  cox::core::v1::SecurityContext context;
  context.capabilities.emplace().add = {"NET_ADMIN"};
  context.capabilities->drop = {"ALL"};
  init.securityContext = std::move(context);
  return init;
}

}  // namespace

Outcome Inject(const InjectorOptions& options, Pod& pod) {
  const std::string* wanted = pod.metadata.annotations.Get(kInjectAnnotation);
  if (wanted != nullptr && *wanted == "false") return Outcome::kOptedOut;
  if (pod.spec.hostNetwork) return Outcome::kHostNetwork;
  if (Has(pod.spec.containers, kProxyName) || Has(pod.spec.initContainers, kProxyName)) {
    return Outcome::kThereAlready;
  }
  pod.spec.containers.insert(pod.spec.containers.begin(), Proxy(options));
  if (!options.init_image.empty() && !Has(pod.spec.initContainers, kInitName)) {
    pod.spec.initContainers.insert(pod.spec.initContainers.begin(), Init(options));
  }
  pod.metadata.annotations[kStatusAnnotation] = options.proxy_image;
  return Outcome::kInjected;
}

cox::admissionregistration::v1::MutatingWebhookConfiguration Configuration(
    const std::string& name, cox::admissionregistration::v1::WebhookClientConfig client,
    const std::string& own_namespace) {
  cox::admissionregistration::v1::MutatingWebhookConfiguration configuration;
  configuration.metadata.name = name;
  auto& webhook = configuration.webhooks.emplace_back();
  webhook.name = "pods.sidecar.example.com";
  webhook.clientConfig = std::move(client);
  auto& rule = webhook.rules.emplace_back();
  rule.operations = {"CREATE"};
  rule.rule = {.apiGroups = {""}, .apiVersions = {"v1"}, .resources = {"pods"}};
  rule.rule.scope = "Namespaced";
  auto& namespaces = webhook.namespaceSelector.emplace();
  namespaces.matchLabels[kNamespaceLabel] = kNamespaceValue;
  namespaces.matchExpressions.push_back(
      {.key = "kubernetes.io/metadata.name", .operator_ = "NotIn", .values = {own_namespace}});
  // Reject the Pod if the injector is unavailable: a Pod without a proxy would bypass the mesh.
  webhook.failurePolicy = "Fail";
  webhook.sideEffects = "None";
  webhook.reinvocationPolicy = "IfNeeded";
  webhook.timeoutSeconds = 5;
  webhook.admissionReviewVersions = {"v1"};
  return configuration;
}

}  // namespace sidecar
