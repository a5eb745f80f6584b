// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The authorization configuration: from flags or an AuthorizationConfiguration.
namespace cox::apiserver {

// A webhook for SubjectAccessReviews.
struct WebhookAuthorizerConfig {
  std::string kubeconfig;      // path of the kubeconfig
  std::string version = "v1";  // of the review: v1 or v1beta1
  std::chrono::nanoseconds authorized_ttl = std::chrono::minutes(5);     // 0: not cached
  std::chrono::nanoseconds unauthorized_ttl = std::chrono::seconds(30);  // 0: not cached
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  bool deny_on_failure = false;  // otherwise a failure means no opinion

  bool operator==(const WebhookAuthorizerConfig&) const = default;
};

struct AuthorizerConfig {
  std::string type;  // AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook
  std::string name;
  std::optional<WebhookAuthorizerConfig> webhook = {};

  bool operator==(const AuthorizerConfig&) const = default;
};

struct AuthorizationOptions {
  std::vector<std::string> modes = {"RBAC"};  // in order
  WebhookAuthorizerConfig webhook;            // for mode Webhook
  // An AuthorizationConfiguration file, reloaded on change; empty: `modes` apply.
  std::string config_file;
};

// The authorizers of the modes. Errors: BadRequest for unknown or duplicate modes, and for Webhook
// without a kubeconfig.
Result<std::vector<AuthorizerConfig>> AuthorizersOfModes(const AuthorizationOptions& options);

// The authorizers of an AuthorizationConfiguration (apiserver.config.k8s.io/v1), YAML or JSON.
// Errors: BadRequest with all invalid fields. Match conditions (which need CEL) and InClusterConfig
// webhooks are not supported and rejected, because ignoring them would change decisions.
Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfiguration(std::string_view text);

}  // namespace cox::apiserver
