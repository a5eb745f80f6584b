// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What a server is told about who decides: by flags, or by an AuthorizationConfiguration.
namespace cox::apiserver {

// A server that is asked with SubjectAccessReviews.
struct WebhookAuthorizerConfig {
  std::string kubeconfig;      // path of the file that says where it is
  std::string version = "v1";  // of the review: v1 or v1beta1
  std::chrono::nanoseconds authorized_ttl = std::chrono::minutes(5);     // 0: not remembered
  std::chrono::nanoseconds unauthorized_ttl = std::chrono::seconds(30);  // likewise
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  bool deny_on_failure = false;  // else it has no opinion where it cannot be asked

  bool operator==(const WebhookAuthorizerConfig&) const = default;
};

struct AuthorizerConfig {
  std::string type;  // AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook
  std::string name;
  std::optional<WebhookAuthorizerConfig> webhook = {};

  bool operator==(const AuthorizerConfig&) const = default;
};

struct AuthorizationOptions {
  std::vector<std::string> modes = {"RBAC"};  // asked in order
  WebhookAuthorizerConfig webhook;            // of the mode Webhook
  // An AuthorizationConfiguration, followed while the server runs; empty: `modes` say it.
  std::string config_file;
};

// The authorizers that modes name, each at most once. BadRequest for one that does not exist, and
// for Webhook without a kubeconfig.
Result<std::vector<AuthorizerConfig>> AuthorizersOfModes(const AuthorizationOptions& options);

// Those of an AuthorizationConfiguration (apiserver.config.k8s.io/v1), YAML or JSON. BadRequest
// with all that is wrong; also for match conditions, which need CEL, and for a webhook that is
// configured by the Pod this server runs in: neither is built yet, and passing over them would open
// or close doors.
Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfiguration(std::string_view text);

}  // namespace cox::apiserver
