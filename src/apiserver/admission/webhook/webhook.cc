// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/webhook.h"

#include <map>

namespace cox::apiserver {
namespace {

using admissionregistration::v1::MutatingWebhookConfiguration;
using admissionregistration::v1::ValidatingWebhookConfiguration;

constexpr std::chrono::seconds kDefaultTimeout{10};

template <class Selector>
Result<labels::Selector> SelectorOf(const Selector& selector) {
  if (!selector) return labels::Selector::Everything();
  return labels::Selector::FromLabelSelector(&*selector);
}

template <class Hook>
Status Prepare(const Hook& from, const std::shared_ptr<WebhookConnections>& connections,
               Webhook* hook) {
  COX_ASSIGN_OR_RETURN(hook->namespaces, SelectorOf(from.namespaceSelector));
  COX_ASSIGN_OR_RETURN(hook->objects, SelectorOf(from.objectSelector));
  COX_ASSIGN_OR_RETURN(WebhookConfig config, ConfigOfWebhook(from.clientConfig));
  COX_ASSIGN_OR_RETURN(hook->client, WebhookClient::Create(connections, std::move(config)));
  return {};
}

template <class Hook>
Webhook Compile(const Hook& from, const std::shared_ptr<WebhookConnections>& connections) {
  Webhook hook;
  hook.name = from.name;
  hook.rules = from.rules;
  hook.equivalent = from.matchPolicy != "Exact";
  hook.ignore_failure = from.failurePolicy == "Ignore";
  hook.dry_run_safe = from.sideEffects == "None" || from.sideEffects == "NoneOnDryRun";
  hook.has_conditions = !from.matchConditions.empty();
  hook.timeout = kDefaultTimeout;
  if (from.timeoutSeconds) hook.timeout = std::chrono::seconds(*from.timeoutSeconds);
  for (const std::string& version : from.admissionReviewVersions) {
    if (version != "v1" && version != "v1beta1") continue;
    hook.review_version = version;
    break;
  }
  if constexpr (requires { from.reinvocationPolicy; }) {
    hook.reinvoke = from.reinvocationPolicy == "IfNeeded";
  }
  hook.problem = Prepare(from, connections, &hook);
  return hook;
}

template <class Configuration>
void Append(const Configuration& from, const std::shared_ptr<WebhookConnections>& connections,
            WebhookList* list) {
  std::map<std::string, int> seen;
  for (const auto& each : from.webhooks) {
    Webhook hook = Compile(each, connections);
    hook.configuration = from.metadata.name;
    hook.id = from.metadata.name + "/" + each.name + "/" + std::to_string(seen[each.name]++);
    list->push_back(std::move(hook));
  }
}

}  // namespace

void AppendWebhooks(const MutatingWebhookConfiguration& from,
                    const std::shared_ptr<WebhookConnections>& connections, WebhookList* list) {
  Append(from, connections, list);
}

void AppendWebhooks(const ValidatingWebhookConfiguration& from,
                    const std::shared_ptr<WebhookConnections>& connections, WebhookList* list) {
  Append(from, connections, list);
}

}  // namespace cox::apiserver
