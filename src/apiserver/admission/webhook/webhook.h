// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/admissionregistration/v1.h"
#include "apiserver/webhook/webhook_client.h"
#include "base/status.h"
#include "object/selector/labels.h"

namespace cox::apiserver {

// One webhook of a configuration, compiled when the configuration changes. Immutable.
struct Webhook {
  std::string configuration;
  std::string name;
  std::string id;  // unique among all webhooks: "configuration/name/0"
  List<admissionregistration::v1::RuleWithOperations> rules;
  labels::Selector namespaces;
  labels::Selector objects;
  bool equivalent = true;       // matchPolicy: Equivalent
  bool ignore_failure = false;  // failurePolicy: Ignore
  bool reinvoke = false;        // reinvocationPolicy: IfNeeded
  bool dry_run_safe = false;    // sideEffects: None or NoneOnDryRun
  bool has_conditions = false;  // matchConditions
  std::chrono::seconds timeout{10};
  std::string review_version;           // "v1" or "v1beta1"; empty: neither is supported
  std::optional<WebhookClient> client;  // nullopt: see problem
  Status problem;                       // the error for every call, if the webhook is invalid
};
using WebhookList = std::vector<Webhook>;

// Appends the webhooks of a configuration in their order.
void AppendWebhooks(const admissionregistration::v1::MutatingWebhookConfiguration& from,
                    const std::shared_ptr<WebhookConnections>& connections, WebhookList* list);
void AppendWebhooks(const admissionregistration::v1::ValidatingWebhookConfiguration& from,
                    const std::shared_ptr<WebhookConnections>& connections, WebhookList* list);

}  // namespace cox::apiserver
