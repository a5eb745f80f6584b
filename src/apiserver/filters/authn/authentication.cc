// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/authentication.h"

#include "apiserver/filters/authn/bootstrap_token.h"
#include "apiserver/filters/authn/oidc/fetch.h"
#include "apiserver/filters/authn/service_account/authenticator.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {
namespace {

using CaFile = std::unique_ptr<WatchedFile<CaPool>>;

Result<CaFile> OpenCas(const Context& ctx, const std::string& flag, const std::string& path) {
  if (path.empty()) return CaFile();
  Result<CaFile> file = WatchedFile<CaPool>::Open(
      ctx, {.name = flag, .paths = {path}},
      [](std::span<const std::string> texts) { return CaPool::Parse(texts[0]); });
  if (!file.ok()) return file.status().WithContext("--" + flag);
  return file;
}

// Sends TokenReviews to the server in the kubeconfig; null if there is none.
Result<PostReview> ReviewsTo(const Context& ctx, const std::string& kubeconfig) {
  if (kubeconfig.empty()) return PostReview();
  Result<WebhookConfig> config = ReadWebhookKubeconfig(kubeconfig);
  if (!config.ok()) {
    return config.status().WithContext("--authentication-token-webhook-config-file");
  }
  config->user_agent = "kube-apiserver";
  COX_ASSIGN_OR_RETURN(
      WebhookClient client,
      WebhookClient::Create(std::make_shared<WebhookConnections>(ctx), std::move(*config)));
  return PostReview([client = std::move(client)](const Context& call, std::string json) {
    return client.Post(call, std::move(json));
  });
}

Status CheckFrontProxy(const FrontProxyOptions& options) {
  if (options.client_ca_file.empty()) return {};
  if (options.username_headers.empty()) {
    return Status::BadRequest(
        "--requestheader-username-headers must be given with --requestheader-client-ca-file");
  }
  return {};
}

}  // namespace

Authentication::Authentication(Private, const Context& ctx, AuthenticationOptions options,
                               std::shared_ptr<ServiceAccountTokens> tokens,
                               MetricsRegistry& metrics, ConfigReloadMetricsPtr reloads)
    : options_(std::move(options)),
      tokens_(std::move(tokens)),
      clock_(ctx.clock()),
      metrics_(metrics),
      reloads_(std::move(reloads)) {}

Result<std::unique_ptr<Authentication>> Authentication::Open(
    const Context& ctx, AuthenticationOptions options, std::shared_ptr<ServiceAccountTokens> tokens,
    MetricsRegistry& metrics, ConfigReloadMetricsPtr reloads) {
  COX_RETURN_IF_ERROR(CheckFrontProxy(options.front_proxy));
  if (!options.config_file.empty() && options.oidc) {
    return Status::BadRequest("authentication-config file and oidc-* flags are mutually exclusive");
  }
  if (!options.post_review) {
    COX_ASSIGN_OR_RETURN(options.post_review, ReviewsTo(ctx, options.webhook.kubeconfig_file));
  }
  auto made = std::make_unique<Authentication>(Private{}, ctx, std::move(options),
                                               std::move(tokens), metrics, std::move(reloads));
  COX_RETURN_IF_ERROR(made->OpenFiles(ctx));
  COX_RETURN_IF_ERROR(made->OpenKeys(ctx));
  return made;
}

Status Authentication::OpenFiles(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(client_ca_, OpenCas(ctx, "client-ca-file", options_.client_ca_file));
  COX_ASSIGN_OR_RETURN(front_proxy_ca_, OpenCas(ctx, "requestheader-client-ca-file",
                                                options_.front_proxy.client_ca_file));
  if (!options_.token_file.empty()) {
    COX_ASSIGN_OR_RETURN(
        token_file_,
        WatchedFile<TokenTable>::Open(
            ctx, {.name = "token-auth-file", .paths = {options_.token_file}},
            [](std::span<const std::string> texts) { return TokenTable::Parse(texts[0]); }));
  }
  if (options_.oidc) {
    oidc_ = std::make_shared<const JwtIssuers>(ctx, std::vector{*options_.oidc}, FetchOverTls,
                                               &metrics_);
  }
  if (options_.config_file.empty()) return {};
  Result<std::unique_ptr<WatchedFile<Configured>>> config = WatchedFile<Configured>::Open(
      ctx, {.name = "authentication-config", .paths = {options_.config_file}},
      [this, ctx](std::span<const std::string> texts) { return Configure(ctx, texts[0]); },
      [this](const Status& status) {
        if (reloads_ != nullptr) reloads_->Record(status, clock_.Now());
      });
  if (!config.ok()) return config.status().WithContext("--authentication-config");
  config_ = std::move(*config);
  return {};
}

Result<std::shared_ptr<const Authentication::Configured>> Authentication::Configure(
    const Context& ctx, const std::string& text) {
  COX_ASSIGN_OR_RETURN(AuthenticationConfiguration config,
                       AuthenticationConfiguration::Parse(text, tokens_->options().issuers));
  if (config.anonymous && options_.anonymous) {
    return Status::BadRequest(
        "--anonymous-auth flag cannot be set when anonymous field is configured in authentication "
        "configuration file");
  }
  auto configured = std::make_shared<Configured>();
  configured->issuers =
      std::make_shared<const JwtIssuers>(ctx, config.jwt, FetchOverTls, &metrics_);
  configured->anonymous = std::move(config.anonymous);
  return std::shared_ptr<const Configured>(std::move(configured));
}

Status Authentication::OpenKeys(const Context& ctx) {
  const ServiceAccountTokenOptions& accounts = tokens_->options();
  const bool signs = !accounts.signing_key_file.empty();
  FileWatch::Options files{.name = "service-account-keys", .paths = {}};
  if (signs) files.paths.emplace_back(accounts.signing_key_file);
  files.paths.insert(files.paths.end(), accounts.key_files.begin(), accounts.key_files.end());
  if (files.paths.empty()) return {};
  COX_ASSIGN_OR_RETURN(keys_, WatchedFile<uint64_t>::Open(
                                  ctx, std::move(files),
                                  [this, signs](std::span<const std::string> texts)
                                      -> Result<std::shared_ptr<const uint64_t>> {
                                    COX_RETURN_IF_ERROR(tokens_->ReplaceKeys(
                                        signs ? texts[0] : "", texts.subspan(signs ? 1 : 0)));
                                    return std::make_shared<const uint64_t>(tokens_->generation());
                                  }));
  return {};
}

bool Authentication::MayBeAnonymous(std::string_view path) const {
  if (config_ != nullptr) {
    const std::shared_ptr<const Configured> now = config_->Current();
    if (now->anonymous) return now->anonymous->Allows(path);
  }
  return options_.anonymous.value_or(true);
}

Authenticator::Options Authentication::MethodsOver(const Registry& registry) const {
  Authenticator::Options made;
  auto& methods = made.methods;
  if (front_proxy_ca_ != nullptr) {
    methods.push_back(NewFrontProxyMethod([this] { return front_proxy_ca_->Current(); },
                                          options_.front_proxy, clock_));
  }
  if (client_ca_ != nullptr) {
    methods.push_back(NewClientCertificateMethod([this] { return client_ca_->Current(); }, clock_));
  }
  if (token_file_ != nullptr) {
    methods.push_back(NewTokenFileMethod([this] { return token_file_->Current(); }));
  }
  methods.push_back(NewServiceAccountMethod(tokens_, registry, clock_));
  if (options_.bootstrap_tokens) methods.push_back(NewBootstrapTokenMethod(registry, clock_));
  if (oidc_ != nullptr) {
    methods.push_back(NewJwtMethod([this] { return oidc_; }));
  } else if (config_ != nullptr) {
    methods.push_back(NewJwtMethod([this] { return config_->Current()->issuers; }));
  }
  if (options_.post_review) {
    methods.push_back(
        NewWebhookTokenMethod(options_.post_review, options_.webhook, clock_, &metrics_));
  }
  made.anonymous = [this](std::string_view path) { return MayBeAnonymous(path); };
  made.api_audiences = tokens_->api_audiences();
  made.proxy_headers = FrontProxyHeaders(options_.front_proxy);
  made.proxy_prefixes = FrontProxyPrefixes(options_.front_proxy);
  made.metrics = &metrics_;
  made.clock = &clock_;
  return made;
}

std::string Authentication::client_ca_pem() const {
  return client_ca_ == nullptr ? std::string() : client_ca_->Current()->pem();
}

std::string Authentication::front_proxy_ca_pem() const {
  return front_proxy_ca_ == nullptr ? std::string() : front_proxy_ca_->Current()->pem();
}

}  // namespace cox::apiserver
