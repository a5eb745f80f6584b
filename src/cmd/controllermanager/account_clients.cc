// SPDX-License-Identifier: Apache-2.0
#include "cmd/controllermanager/account_clients.h"

#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "base/mutex.h"
#include "coxswain/subresources.h"
#include "net/websocket.h"

namespace cox::cmd {
namespace {

constexpr int64_t kTokenSeconds = 3600;
constexpr int kUnauthorized = 401;

Config WithoutIdentity(Config config) {
  config.certificate_pem.clear();
  config.key_pem = {};
  config.certificate_file.clear();
  config.key_file.clear();
  config.token = {};
  config.token_file.clear();
  config.username.clear();
  config.password = {};
  config.exec.reset();
  config.impersonate = {};
  return config;
}

// Adds the account's token to requests.
class AccountTransport final : public Transport {
 public:
  AccountTransport(Manager& manager, std::shared_ptr<Transport> inner, std::string account)
      : manager_(manager), inner_(std::move(inner)), account_(std::move(account)) {}

  Result<net::Response> Do(Context& ctx, net::Request request) override {
    COX_ASSIGN_OR_RETURN(const std::string token, Token(ctx, ""));
    net::Request again = request;
    request.headers.Set("authorization", "Bearer " + token);
    Result<net::Response> answer = inner_->Do(ctx, std::move(request));
    if (!answer.ok() || answer->status != kUnauthorized) return answer;
    // The signing key or the service account may have been replaced.
    COX_ASSIGN_OR_RETURN(const std::string other, Token(ctx, token));
    again.headers.Set("authorization", "Bearer " + other);
    return inner_->Do(ctx, std::move(again));
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    COX_ASSIGN_OR_RETURN(const std::string token, Token(ctx, ""));
    request.headers.Set("authorization", "Bearer " + token);
    return inner_->Start(ctx, std::move(request));
  }

 private:
  // Returns a token other than `refused`.
  Result<std::string> Token(Context& ctx, const std::string& refused) {
    const Clock::SteadyTime now = ctx.clock().Monotonic();
    {
      MutexLock lock(mu_);
      if (!token_.empty() && token_ != refused && now < renew_) return token_;
    }
    // Concurrent requests each get a valid token.
    COX_ASSIGN_OR_RETURN(std::string token, Ask(ctx));
    MutexLock lock(mu_);
    token_ = token;
    renew_ = now + std::chrono::seconds(kTokenSeconds * 4 / 5);
    return token;
  }

  Result<std::string> Ask(Context& ctx) {
    const ObjectKey key{"kube-system", account_};
    authentication::v1::TokenRequestSpec spec;
    spec.expirationSeconds = kTokenSeconds;
    auto made = CreateToken(ctx, manager_.client(), key, spec);
    if (made.status().Is(Reason::kNotFound)) {
      core::v1::ServiceAccount account;
      account.metadata.namespace_ = key.ns;
      account.metadata.name = key.name;
      const Status created = manager_.client().Create(ctx, std::move(account)).status();
      if (!created.ok() && !created.Is(Reason::kAlreadyExists)) return created;
      made = CreateToken(ctx, manager_.client(), key, spec);
    }
    if (!made.ok()) return made.status().WithContext("a token for service account " + account_);
    return made->status.token;
  }

  Manager& manager_;
  const std::shared_ptr<Transport> inner_;
  const std::string account_;
  Mutex mu_;
  std::string token_ COX_GUARDED_BY(mu_);  // a secret
  Clock::SteadyTime renew_ COX_GUARDED_BY(mu_);
};

}  // namespace

AccountClients::AccountClients(Manager& manager, std::shared_ptr<Transport> anonymous,
                               Config config)
    : manager_(manager), anonymous_(std::move(anonymous)), config_(std::move(config)) {}

Result<std::unique_ptr<AccountClients>> AccountClients::Create(Manager& manager, Config config) {
  config = WithoutIdentity(std::move(config));
  if (config.user_agent.empty()) config.user_agent = "kube-controller-manager";
  COX_ASSIGN_OR_RETURN(std::shared_ptr<Transport> anonymous,
                       ConnectTransport(manager.context(), config));
  return std::make_unique<AccountClients>(manager, std::move(anonymous), std::move(config));
}

std::shared_ptr<Client> AccountClients::For(std::string_view account) {
  auto transport = std::make_shared<AccountTransport>(manager_, anonymous_, std::string(account));
  return manager_.ClientOver(MakeClient(std::move(transport), config_));
}

}  // namespace cox::cmd
