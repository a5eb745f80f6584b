// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "apiserver/filters/authz/authorizer/authorization_options.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/authz/webhook/decision_cache.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {

// Sends SubjectAccessReviews to a webhook. A denial overrides the authorizers that follow; if the
// webhook neither allows nor denies, this authorizer has no opinion.
//
// Decisions are cached for the configured times. Transient failures (500, 429) are retried a few
// times within the timeout; after that the configuration determines whether the failure is a
// denial. Either way the request fails with the error unless another authorizer allows it.
// Threads: All methods may be called concurrently; Authorize waits for the response.
class WebhookAuthorizer final : public Authorizer {
 public:
  // Reads the kubeconfig. `ctx` provides the clock and cancels calls in progress. Errors:
  // BadRequest.
  static Result<std::unique_ptr<WebhookAuthorizer>> Create(
      const Context& ctx, std::shared_ptr<WebhookConnections> connections,
      WebhookAuthorizerConfig config);
  WebhookAuthorizer(const Context& ctx, WebhookClient client, WebhookAuthorizerConfig config)
      : ctx_(ctx), client_(std::move(client)), config_(std::move(config)) {}

  bool MayBlock() const override { return true; }
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors& selectors) const override;
  // Empty and incomplete: the webhook can only review single requests.
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

 private:
  Result<Decision> SendReview(const std::string& review_body) const;
  Decision Failed(const Status& status) const;

  const Context ctx_;
  const WebhookClient client_;
  const WebhookAuthorizerConfig config_;
  mutable DecisionCache cache_;
};

// Encodes the review as JSON in v1 or v1beta1. v1beta1 names the groups field "group".
std::string EncodeReview(const UserInfo& user, const RequestInfo& request,
                         const Selectors& selectors, std::string_view version);

}  // namespace cox::apiserver
