// SPDX-License-Identifier: Apache-2.0
#include "api/authentication/v1.h"
#include "apiserver/endpoints/reviews/exchange.h"
#include "apiserver/endpoints/reviews/reviews.h"
#include "apiserver/endpoints/verbs/respond.h"

// TokenReview and SelfSubjectReview.
namespace cox::apiserver {

using authentication::v1::SelfSubjectReview;
using authentication::v1::TokenReview;

void Reviews::ReviewToken(Call& call) const {
  std::optional<ReviewExchange> exchange = BeginReview(call, TokenReview::kKind);
  if (!exchange) return;
  auto& review = *exchange->body.As<TokenReview>();
  if (review.spec.token.empty()) {
    return call.RespondStatus(
        Status::BadRequest("token is required for TokenReview in authentication"));
  }
  review.status = {};
  TrackReview(call, *exchange);
  const List<std::string>& audiences = review.spec.audiences;
  Authenticator::TokenReviewResult verdict = parts_.authenticator.ReviewToken(
      call.ctx(), review.spec.token, {audiences.begin(), audiences.end()});
  review.status.authenticated = verdict.authenticated;
  if (verdict.authenticated) {
    review.status.user = ToApi(verdict.user);
    review.status.audiences = std::move(verdict.audiences);
  }
  review.status.error = std::move(verdict.error);
  EndReview(call, *exchange);
}

void Reviews::ReviewSelf(Call& call) const {
  std::optional<ReviewExchange> exchange = BeginReview(call, SelfSubjectReview::kKind);
  if (!exchange) return;
  // The body sent by the client is ignored.
  auto& review = *exchange->body.As<SelfSubjectReview>();
  review = {};
  review.metadata.creationTimestamp = NowOf(call.ctx());
  review.status.userInfo = ToApi(call.user);
  EndReview(call, *exchange);
}

}  // namespace cox::apiserver
