// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/admission_config.h"
#include "apiserver/admission/admission_metrics.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {

// Dependencies of the admission plugins. They must outlive the plugins.
struct AdmissionParts {
  const Registry& registry;
  const Authorizer& authorizer;
  // Connections to webhooks. Null: webhooks are not called, for tests only.
  std::shared_ptr<WebhookConnections> webhooks = nullptr;
  AdmissionMetrics* metrics = nullptr;  // null: metrics are disabled
  // REQUIRES: CheckPluginConfigs(configs).ok()
  PluginConfigs configs = {};

  // The configuration of a plugin, or null.
  const Value* ConfigOf(std::string_view plugin) const {
    const auto found = configs.find(plugin);
    return found == configs.end() ? nullptr : &found->second;
  }
};

}  // namespace cox::apiserver
