// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "apiserver/filters/authz/authorizer/authorization_options.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/authz/webhook/decision_cache.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {

// Asks another server, with a SubjectAccessReview: what it allows is allowed, what it denies is
// denied whatever the authorizers behind it would say, and else it has no opinion.
//
// Answers are remembered for the times of the configuration. A call that fails for a reason that
// may pass (500, 429) is made again, a few times and until the timeout is over; then the
// configuration says whether that is a denial. Either way the request fails with the error unless
// another authorizer allows it.
// Threads: all methods may be called concurrently; Authorize waits for the answer.
class WebhookAuthorizer final : public Authorizer {
 public:
  // Reads the kubeconfig. `ctx` gives the clock and stops calls on their way. BadRequest.
  static Result<std::unique_ptr<WebhookAuthorizer>> Create(
      const Context& ctx, std::shared_ptr<WebhookConnections> connections,
      WebhookAuthorizerConfig config);
  WebhookAuthorizer(const Context& ctx, WebhookClient client, WebhookAuthorizerConfig config)
      : ctx_(ctx), client_(std::move(client)), config_(std::move(config)) {}

  bool MayBlock() const override { return true; }
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors& selectors) const override;
  // None, and incomplete: it can only be asked about single requests.
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

 private:
  Result<Decision> Ask(const std::string& question) const;
  Decision Failed(const Status& status) const;

  const Context ctx_;
  const WebhookClient client_;
  const WebhookAuthorizerConfig config_;
  mutable DecisionCache cache_;
};

// The review, as JSON: v1, or v1beta1, which calls the groups "group".
std::string EncodeReview(const UserInfo& user, const RequestInfo& request,
                         const Selectors& selectors, std::string_view version);

}  // namespace cox::apiserver
