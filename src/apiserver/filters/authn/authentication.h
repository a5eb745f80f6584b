// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

// What the server is told about credentials. Files are named, not read: they may change.
struct AuthenticationOptions {
  std::optional<bool> anonymous;  // none: as the configuration says, else yes
  std::string client_ca_file;     // empty: none, as below
  std::string token_file;
  std::string config_file;  // AuthenticationConfiguration
  FrontProxyOptions front_proxy;
  bool bootstrap_tokens = false;
  std::optional<JwtIssuerConfig> oidc;
  WebhookTokenOptions webhook;
  // Who TokenReviews go to; null: whom `webhook.kubeconfig_file` names.
  PostReview post_review;
};

// All methods of authentication that the options ask for, with what they read from files; that
// follows the files while the server runs.
//
// Order: front proxy, client certificate, then tokens: file, service account, bootstrap, issuers,
//   webhook. Those that may have to ask somebody come last.
// Threads: all methods may be called concurrently.
// Lifetime: outlives the authenticators made of it.
class Authentication {
 public:
  // BadRequest or NotFound for options and files that cannot be used.
  static Result<std::unique_ptr<Authentication>> Open(const Context& ctx,
                                                      AuthenticationOptions options,
                                                      std::shared_ptr<ServiceAccountTokens> tokens,
                                                      MetricsRegistry& metrics);

  // For Authenticator. `registry` and the clock of `ctx` outlive it.
  Authenticator::Options MethodsOver(const Registry& registry) const;

  // What others may want to trust like this server; empty where there is none.
  std::string client_ca_pem() const;
  std::string front_proxy_ca_pem() const;
  const FrontProxyOptions& front_proxy() const { return options_.front_proxy; }
  const std::shared_ptr<ServiceAccountTokens>& tokens() const { return tokens_; }

 private:
  // What the configuration file says, with the issuers it names.
  struct Configured {
    JwtIssuersPtr issuers;
    std::optional<AnonymousConfig> anonymous;
  };
  struct Private {};

 public:
  // For Open.
  Authentication(Private, const Context& ctx, AuthenticationOptions options,
                 std::shared_ptr<ServiceAccountTokens> tokens, MetricsRegistry& metrics);

 private:
  Status OpenFiles(const Context& ctx);
  Status OpenKeys(const Context& ctx);
  Result<std::shared_ptr<const Configured>> Configure(const Context& ctx, const std::string& text);
  bool MayBeAnonymous(std::string_view path) const;

  const AuthenticationOptions options_;
  const std::shared_ptr<ServiceAccountTokens> tokens_;
  const Clock& clock_;
  // Shared by const methods: it synchronises itself.
  mutable AuthnMetrics metrics_;
  JwtIssuersPtr oidc_;  // of flags
  // Null where there is no such file.
  std::unique_ptr<WatchedFile<CaPool>> client_ca_;
  std::unique_ptr<WatchedFile<CaPool>> front_proxy_ca_;
  std::unique_ptr<WatchedFile<TokenTable>> token_file_;
  std::unique_ptr<WatchedFile<Configured>> config_;
  std::unique_ptr<WatchedFile<uint64_t>> keys_;
};

}  // namespace cox::apiserver
