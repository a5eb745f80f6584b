// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/service_account/tokens.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/request/call.h"

namespace cox::apiserver {

// Serves kinds that are created but not stored: TokenReview and SelfSubjectReview
// (authentication.k8s.io), access and rules reviews (authorization.k8s.io), and token requests for
// service accounts.
//
// Threads: constant after construction; Handle may be called concurrently. Only token requests
//   block, for storage.
class Reviews {
 public:
  struct Parts {
    const Authenticator& authenticator;
    const Authorizer& authorizer;
    std::shared_ptr<const ServiceAccountTokens> tokens;
    const ResourceHandlers& resources;  // provides the registry and admission
  };
  explicit Reviews(Parts parts) : parts_(std::move(parts)) {}

  // Returns false if the request is for none of them.
  bool Handle(Call& call) const;

 private:
  using Handler = void (Reviews::*)(Call&) const;
  static Handler Find(const RequestInfo& info);

  // token_review.cc
  void ReviewToken(Call& call) const;
  void ReviewSelf(Call& call) const;
  // access_review.cc
  void ReviewAccess(Call& call) const;
  void ReviewLocalAccess(Call& call) const;
  void ReviewSelfAccess(Call& call) const;
  void ReviewSelfRules(Call& call) const;
  // token_request.cc
  void RequestToken(Call& call) const;

  const Parts parts_;
};

}  // namespace cox::apiserver
