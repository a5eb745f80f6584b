// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/authorizer/authorization_options.h"

#include <algorithm>
#include <set>

#include "apiserver/config/config_reader.h"
#include "base/strings.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kTypes[] = {"AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"};
constexpr std::chrono::seconds kMaxTimeout{30};

bool IsType(std::string_view text) {
  return std::find(std::begin(kTypes), std::end(kTypes), text) != std::end(kTypes);
}

std::chrono::nanoseconds NotNegative(const ConfigObject& object, std::string_view field,
                                     std::chrono::nanoseconds fallback) {
  const Duration read = object.Time(field, Duration{fallback.count()});
  if (read.nanos < 0) object.Fail(field, "must not be negative");
  return std::chrono::nanoseconds(read.nanos);
}

void ReadConnection(const ConfigObject& from, WebhookAuthorizerConfig& config) {
  const std::string type = from.Choice("type", {"KubeConfigFile", "InClusterConfig"});
  config.kubeconfig = from.String("kubeConfigFile");
  if (type.empty()) from.Fail("type", "is required");
  if (type == "InClusterConfig") from.Fail("type", "InClusterConfig is not supported");
  if (type == "KubeConfigFile" && config.kubeconfig.empty()) {
    from.Fail("kubeConfigFile", "is required");
  }
  if (type == "KubeConfigFile" && !config.kubeconfig.empty() &&
      !config.kubeconfig.starts_with('/')) {
    from.Fail("kubeConfigFile", "must be an absolute path");
  }
}

WebhookAuthorizerConfig ReadWebhook(const ConfigObject& from) {
  WebhookAuthorizerConfig config;
  config.authorized_ttl = NotNegative(from, "authorizedTTL", config.authorized_ttl);
  config.unauthorized_ttl = NotNegative(from, "unauthorizedTTL", config.unauthorized_ttl);
  if (!from.Bool("cacheAuthorizedRequests", true)) config.authorized_ttl = {};
  if (!from.Bool("cacheUnauthorizedRequests", true)) config.unauthorized_ttl = {};
  config.timeout = NotNegative(from, "timeout", {});
  if (config.timeout.count() <= 0) from.Fail("timeout", "is required and must be positive");
  if (config.timeout > kMaxTimeout) from.Fail("timeout", "must be at most 30s");
  config.version = from.Choice("subjectAccessReviewVersion", {"v1", "v1beta1"});
  if (config.version.empty()) from.Fail("subjectAccessReviewVersion", "is required");
  const std::string on_failure = from.Choice("failurePolicy", {"NoOpinion", "Deny"});
  if (on_failure.empty()) from.Fail("failurePolicy", "is required");
  config.deny_on_failure = on_failure == "Deny";
  ReadConnection(from.Object("connectionInfo"), config);
  from.Choice("matchConditionSubjectAccessReviewVersion", {"v1"});
  for (const ConfigObject& condition : from.Objects("matchConditions")) {
    condition.String("expression");
    condition.Fail("", "match conditions need CEL, which this server does not have yet");
  }
  return config;
}

}  // namespace

Result<std::vector<AuthorizerConfig>> AuthorizersOfModes(const AuthorizationOptions& options) {
  if (options.modes.empty()) {
    return Status::BadRequest("at least one authorization-mode must be passed");
  }
  std::vector<AuthorizerConfig> authorizers;
  std::set<std::string> seen;
  for (const std::string& mode : options.modes) {
    if (!IsType(mode)) {
      return Status::BadRequest("authorization-mode " + Quote(mode) + " is not a valid mode");
    }
    if (!seen.insert(mode).second) {
      return Status::BadRequest("authorization-mode " + Quote(mode) + " is given more than once");
    }
    authorizers.push_back({mode, mode});
    if (mode == "Webhook") authorizers.back().webhook = options.webhook;
  }
  if (seen.contains("Webhook") != !options.webhook.kubeconfig.empty()) {
    return Status::BadRequest(
        "authorization-mode Webhook and authorization-webhook-config-file need each other");
  }
  return authorizers;
}

Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfiguration(std::string_view text) {
  COX_ASSIGN_OR_RETURN(
      ConfigDocument document,
      ConfigDocument::Parse(text, "AuthorizationConfiguration",
                            {"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1",
                             "apiserver.config.k8s.io/v1alpha1"}));
  std::vector<AuthorizerConfig> authorizers;
  std::set<std::string> types, names;
  for (const ConfigObject& from : document.root().Objects("authorizers")) {
    AuthorizerConfig config{from.RequiredString("type"), from.RequiredString("name")};
    if (!config.type.empty() && !IsType(config.type)) {
      from.Fail("type", "no authorizer of type " + Quote(config.type));
    }
    if (!types.insert(config.type).second && config.type != "Webhook") {
      from.Fail("type", "there is another authorizer of type " + Quote(config.type));
    }
    if (!config.name.empty() && !validation::IsDNS1123Subdomain(config.name).empty()) {
      from.Fail("name", "must be a lower-case DNS name");
    }
    if (!names.insert(config.name).second) {
      from.Fail("name", "there is another authorizer with the name " + Quote(config.name));
    }
    const ConfigObject webhook = from.Object("webhook");
    if (webhook.present() != (config.type == "Webhook")) {
      from.Fail("webhook", "belongs to authorizers of type Webhook, and to each of them");
    }
    if (webhook.present()) config.webhook = ReadWebhook(webhook);
    authorizers.push_back(std::move(config));
  }
  if (authorizers.empty()) document.root().Fail("authorizers", "at least one is required");
  COX_RETURN_IF_ERROR(document.Finish());
  return authorizers;
}

}  // namespace cox::apiserver
