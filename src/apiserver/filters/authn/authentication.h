// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/config/reload_metrics.h"
#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/authenticator/authn_metrics.h"
#include "apiserver/filters/authn/authenticator/client_certificate.h"
#include "apiserver/filters/authn/config/authentication_config.h"
#include "apiserver/filters/authn/front_proxy.h"
#include "apiserver/filters/authn/oidc/jwt_method.h"
#include "apiserver/filters/authn/service_account/tokens.h"
#include "apiserver/filters/authn/token_file.h"
#include "apiserver/filters/authn/webhook_token.h"
#include "apiserver/registry/served/registry.h"
#include "base/watched_file.h"

namespace cox::apiserver {

// The authentication flags. They contain file paths instead of contents, because files may change.
struct AuthenticationOptions {
  std::optional<bool> anonymous;  // none: from the configuration, otherwise true
  std::string client_ca_file;     // empty: disabled, as below
  std::string token_file;
  std::string config_file;  // AuthenticationConfiguration
  FrontProxyOptions front_proxy;
  bool bootstrap_tokens = false;
  std::optional<JwtIssuerConfig> oidc;
  WebhookTokenOptions webhook;
  // Sends TokenReviews; null: to the server in `webhook.kubeconfig_file`.
  PostReview post_review;
};

// All configured authentication methods, with the data of their files. Files are reloaded when they
// change.
//
// Order: front proxy, client certificate, then tokens: file, service account, bootstrap, issuers,
// webhook. Methods that may call other servers come last.
// Threads: All methods may be called concurrently.
// Lifetime: Must outlive the authenticators that use it.
class Authentication {
 public:
  // Errors: BadRequest or NotFound for options and files that cannot be used.
  static Result<std::unique_ptr<Authentication>> Open(const Context& ctx,
                                                      AuthenticationOptions options,
                                                      std::shared_ptr<ServiceAccountTokens> tokens,
                                                      MetricsRegistry& metrics,
                                                      ConfigReloadMetricsPtr reloads = nullptr);

  // For Authenticator. `registry` and the clock of `ctx` must outlive it.
  Authenticator::Options MethodsOver(const Registry& registry) const;

  // The CAs, for components that trust the same clients; empty if not configured.
  std::string client_ca_pem() const;
  std::string front_proxy_ca_pem() const;
  const FrontProxyOptions& front_proxy() const { return options_.front_proxy; }
  const std::shared_ptr<ServiceAccountTokens>& tokens() const { return tokens_; }

 private:
  // The contents of the configuration file, with its issuers.
  struct Configured {
    JwtIssuersPtr issuers;
    std::optional<AnonymousConfig> anonymous;
  };
  struct Private {};

 public:
  // For Open.
  Authentication(Private, const Context& ctx, AuthenticationOptions options,
                 std::shared_ptr<ServiceAccountTokens> tokens, MetricsRegistry& metrics,
                 ConfigReloadMetricsPtr reloads);

 private:
  Status OpenFiles(const Context& ctx);
  Status OpenKeys(const Context& ctx);
  Result<std::shared_ptr<const Configured>> Configure(const Context& ctx, const std::string& text);
  bool MayBeAnonymous(std::string_view path) const;

  const AuthenticationOptions options_;
  const std::shared_ptr<ServiceAccountTokens> tokens_;
  const Clock& clock_;
  // Used by const methods; thread-safe.
  mutable AuthnMetrics metrics_;
  const ConfigReloadMetricsPtr reloads_;  // of the configuration file
  JwtIssuersPtr oidc_;                    // from the --oidc flags
  // Null if the file is not configured.
  std::unique_ptr<WatchedFile<CaPool>> client_ca_;
  std::unique_ptr<WatchedFile<CaPool>> front_proxy_ca_;
  std::unique_ptr<WatchedFile<TokenTable>> token_file_;
  std::unique_ptr<WatchedFile<Configured>> config_;
  std::unique_ptr<WatchedFile<uint64_t>> keys_;
};

}  // namespace cox::apiserver
