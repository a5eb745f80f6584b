// SPDX-License-Identifier: Apache-2.0
// ValidatingWebhookConfiguration and MutatingWebhookConfiguration.
#include <set>
#include <type_traits>

#include "apiserver/registry/kinds/admissionregistration/rules.h"
#include "apiserver/registry/kinds/admissionregistration/strategies.h"
#include "apiserver/registry/kinds/admissionregistration/webhook_client.h"
#include "apiserver/registry/validation/label_selector_validation.h"

namespace cox::apiserver {
namespace {

using admissionregistration::v1::MutatingWebhook;
using admissionregistration::v1::MutatingWebhookConfiguration;
using admissionregistration::v1::ValidatingWebhook;
using admissionregistration::v1::ValidatingWebhookConfiguration;
using admissionregistration::v1::WebhookClientConfig;

template <class Webhook>
constexpr bool kMutates = std::is_same_v<Webhook, MutatingWebhook>;

template <class Webhook>
void DefaultWebhook(Webhook& hook) {
  if (!hook.failurePolicy) hook.failurePolicy = "Fail";
  if (!hook.matchPolicy) hook.matchPolicy = "Equivalent";
  if (!hook.namespaceSelector) hook.namespaceSelector = meta::v1::LabelSelector{};
  if (!hook.objectSelector) hook.objectSelector = meta::v1::LabelSelector{};
  if (!hook.timeoutSeconds) hook.timeoutSeconds = 10;
  if constexpr (kMutates<Webhook>) {
    if (!hook.reinvocationPolicy) hook.reinvocationPolicy = "Never";
  }
  if (hook.clientConfig.service && !hook.clientConfig.service->port) {
    hook.clientConfig.service->port = 443;
  }
  for (auto& rule : hook.rules) DefaultRule(rule);
}

void CheckClientConfig(const WebhookClientConfig& config, const FieldPath& path,
                       FieldErrorList* errors) {
  if (config.url.has_value() == config.service.has_value()) {
    errors->push_back(FieldError::Required(path, "exactly one of url or service is required"));
  } else if (config.url) {
    Append(*errors, ValidateWebhookUrl(*config.url, path.Child("url")));
  } else {
    Append(*errors, ValidateWebhookService(config.service->name, config.service->namespace_,
                                           config.service->path, config.service->port,
                                           path.Child("service")));
  }
}

template <class Webhook>
void CheckPolicies(const Webhook& hook, const FieldPath& path, FieldErrorList* errors) {
  if (hook.failurePolicy) {
    CheckSupported(*hook.failurePolicy, {"Fail", "Ignore"}, path.Child("failurePolicy"), errors);
  }
  if (hook.matchPolicy) {
    CheckSupported(*hook.matchPolicy, {"Equivalent", "Exact"}, path.Child("matchPolicy"), errors);
  }
  if (!hook.sideEffects) {
    errors->push_back(
        FieldError::Required(path.Child("sideEffects"), "must specify one of None, NoneOnDryRun"));
  } else {
    CheckSupported(*hook.sideEffects, {"None", "NoneOnDryRun"}, path.Child("sideEffects"), errors);
  }
  if (hook.timeoutSeconds && (*hook.timeoutSeconds > 30 || *hook.timeoutSeconds < 1)) {
    errors->push_back(FieldError::Invalid(path.Child("timeoutSeconds"), *hook.timeoutSeconds,
                                          "the timeout value must be between 1 and 30 seconds"));
  }
  if constexpr (kMutates<Webhook>) {
    if (hook.reinvocationPolicy) {
      CheckSupported(*hook.reinvocationPolicy, {"IfNeeded", "Never"},
                     path.Child("reinvocationPolicy"), errors);
    }
  }
}

template <class Webhook>
FieldErrorList ValidateWebhook(const Webhook& hook, const FieldPath& path) {
  FieldErrorList errors = validation::IsFullyQualifiedName(path.Child("name"), hook.name);
  for (size_t i = 0; i < hook.rules.size(); ++i) {
    Append(errors, ValidateRule(hook.rules[i], path.Child("rules").Index(i)));
  }
  CheckPolicies(hook, path, &errors);
  if (hook.namespaceSelector) {
    Append(errors, ValidateLabelSelector(*hook.namespaceSelector, path.Child("namespaceSelector")));
  }
  if (hook.objectSelector) {
    Append(errors, ValidateLabelSelector(*hook.objectSelector, path.Child("objectSelector")));
  }
  CheckClientConfig(hook.clientConfig, path.Child("clientConfig"), &errors);
  Append(errors, ValidateMatchConditions(hook.matchConditions, path.Child("matchConditions")));
  Append(errors, ValidateReviewVersions(hook.admissionReviewVersions, {"v1", "v1beta1"},
                                        path.Child("admissionReviewVersions")));
  return errors;
}

template <class Configuration>
class WebhookConfigurationStrategy final : public StrategyOf<Configuration> {
 public:
  std::string_view storage_prefix() const override { return Configuration::kKind.plural; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Webhooks",
         .type = "integer",
         .description =
             "Webhooks indicates the number of webhooks registered in this configuration"},
        kAgeColumn};
    return kColumns;
  }

 protected:
  void Default(Configuration& object) const override {
    for (auto& hook : object.webhooks) DefaultWebhook(hook);
  }
  void PrepareCreate(const WriteContext&, Configuration& object) const override {
    object.metadata.generation = 1;
  }
  void PrepareUpdate(const WriteContext&, Configuration& object,
                     const Configuration& old) const override {
    object.metadata.generation =
        old.metadata.generation + (object.webhooks == old.webhooks ? 0 : 1);
  }
  FieldErrorList Check(const WriteContext&, const Configuration& object) const override {
    FieldErrorList errors;
    const FieldPath webhooks("webhooks");
    std::set<std::string_view> names;
    for (size_t i = 0; i < object.webhooks.size(); ++i) {
      const auto& hook = object.webhooks[i];
      Append(errors, ValidateWebhook(hook, webhooks.Index(i)));
      if (!hook.name.empty() && !names.insert(hook.name).second) {
        errors.push_back(FieldError::Duplicate(webhooks.Index(i).Child("name"), hook.name));
      }
    }
    return errors;
  }
  Cells RowOf(const Configuration& object, const Time& now) const override {
    return {object.metadata.name, static_cast<int64_t>(object.webhooks.size()),
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewValidatingWebhookConfigurationStrategy() {
  return std::make_unique<WebhookConfigurationStrategy<ValidatingWebhookConfiguration>>();
}
StrategyPtr NewMutatingWebhookConfigurationStrategy() {
  return std::make_unique<WebhookConfigurationStrategy<MutatingWebhookConfiguration>>();
}

}  // namespace cox::apiserver
