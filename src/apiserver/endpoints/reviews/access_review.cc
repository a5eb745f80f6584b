// SPDX-License-Identifier: Apache-2.0
#include "api/authorization/v1.h"
#include "apiserver/endpoints/reviews/attributes.h"
#include "apiserver/endpoints/reviews/exchange.h"
#include "apiserver/endpoints/reviews/reviews.h"

// SubjectAccessReview, LocalSubjectAccessReview, SelfSubjectAccessReview and
// SelfSubjectRulesReview.
namespace cox::apiserver {
namespace {

using authorization::v1::LocalSubjectAccessReview;
using authorization::v1::SelfSubjectAccessReview;
using authorization::v1::SelfSubjectRulesReview;
using authorization::v1::SubjectAccessReview;
using authorization::v1::SubjectAccessReviewSpec;
using authorization::v1::SubjectAccessReviewStatus;

// Upstream omits the kind in this error.
Status Invalid(const FieldErrorList& errors) {
  return NewInvalid("authorization.k8s.io", "", "", errors);
}

UserInfo SubjectOf(const SubjectAccessReviewSpec& spec) {
  UserInfo user{.name = spec.user,
                .uid = spec.uid,
                .groups = {spec.groups.begin(), spec.groups.end()},
                .extra = {}};
  for (const auto& [key, values] : spec.extra) user.extra[key] = {values.begin(), values.end()};
  return user;
}

SubjectAccessReviewStatus Decide(const Authorizer& authorizer, const UserInfo& user,
                                 const AccessAttributes& question) {
  Decision decision =
      authorizer.Authorize(user, question.info, {question.field_selector, question.label_selector});
  SubjectAccessReviewStatus status;
  status.allowed = decision.allowed;
  status.denied = decision.denied;
  status.reason = std::move(decision.reason);
  status.evaluationError = question.error;
  if (!decision.error.empty()) {
    if (!status.evaluationError.empty()) status.evaluationError += "\n";
    status.evaluationError += decision.error;
  }
  return status;
}

// The metadata of reviews must be empty, except for the namespace of a local review.
void CheckMetadata(const meta::v1::ObjectMeta& metadata, bool local, FieldErrorList& errors) {
  meta::v1::ObjectMeta rest = metadata;
  rest.managedFields.clear();
  if (local) rest.namespace_.clear();
  const bool empty = rest.name.empty() && rest.generateName.empty() && rest.namespace_.empty() &&
                     rest.uid.empty() && rest.resourceVersion.empty() && rest.labels.empty() &&
                     rest.annotations.empty() && rest.finalizers.empty() &&
                     rest.ownerReferences.empty() && rest.creationTimestamp.IsZero();
  if (empty) return;
  errors.push_back(
      FieldError::Invalid(FieldPath("metadata"), FieldValue::Omit(),
                          local ? "must be empty except for namespace" : "must be empty"));
}

}  // namespace

void Reviews::ReviewAccess(Call& call) const {
  std::optional<ReviewExchange> exchange = BeginReview(call, SubjectAccessReview::kKind);
  if (!exchange) return;
  auto& review = *exchange->body.As<SubjectAccessReview>();
  review.status = {};
  TrackReview(call, *exchange);
  FieldErrorList errors = CheckAccessSpec(review.spec);
  CheckMetadata(review.metadata, /*local=*/false, errors);
  if (!errors.empty()) return call.RespondStatus(Invalid(errors));
  review.status =
      Decide(parts_.authorizer, SubjectOf(review.spec),
             AttributesFor(review.spec.resourceAttributes, review.spec.nonResourceAttributes));
  EndReview(call, *exchange);
}

void Reviews::ReviewLocalAccess(Call& call) const {
  std::optional<ReviewExchange> exchange = BeginReview(call, LocalSubjectAccessReview::kKind);
  if (!exchange) return;
  auto& review = *exchange->body.As<LocalSubjectAccessReview>();
  std::string& ns = review.metadata.namespace_;
  if (ns.empty()) ns = call.info.namespace_;
  if (ns != call.info.namespace_) {
    return call.RespondStatus(Status::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  review.status = {};
  TrackReview(call, *exchange);
  FieldErrorList errors = CheckLocalAccessSpec(review.spec, ns);
  CheckMetadata(review.metadata, /*local=*/true, errors);
  if (!errors.empty()) return call.RespondStatus(Invalid(errors));
  review.status =
      Decide(parts_.authorizer, SubjectOf(review.spec),
             AttributesFor(review.spec.resourceAttributes, review.spec.nonResourceAttributes));
  EndReview(call, *exchange);
}

void Reviews::ReviewSelfAccess(Call& call) const {
  std::optional<ReviewExchange> exchange = BeginReview(call, SelfSubjectAccessReview::kKind);
  if (!exchange) return;
  auto& review = *exchange->body.As<SelfSubjectAccessReview>();
  review.status = {};
  TrackReview(call, *exchange);
  FieldErrorList errors =
      CheckAttributes(review.spec.resourceAttributes, review.spec.nonResourceAttributes);
  CheckMetadata(review.metadata, /*local=*/false, errors);
  if (!errors.empty()) return call.RespondStatus(Invalid(errors));
  review.status =
      Decide(parts_.authorizer, call.user,
             AttributesFor(review.spec.resourceAttributes, review.spec.nonResourceAttributes));
  EndReview(call, *exchange);
}

void Reviews::ReviewSelfRules(Call& call) const {
  std::optional<ReviewExchange> exchange = BeginReview(call, SelfSubjectRulesReview::kKind);
  if (!exchange) return;
  auto& review = *exchange->body.As<SelfSubjectRulesReview>();
  if (review.spec.namespace_.empty()) {
    return call.RespondStatus(Status::BadRequest("no namespace on request"));
  }
  UserRules rules = parts_.authorizer.Rules(call.user, review.spec.namespace_);
  review = {};  // upstream's response does not contain the spec
  for (rbac::v1::PolicyRule& rule : rules.rules) {
    if (!rule.resources.empty()) {
      review.status.resourceRules.push_back({.verbs = rule.verbs,
                                             .apiGroups = std::move(rule.apiGroups),
                                             .resources = std::move(rule.resources),
                                             .resourceNames = std::move(rule.resourceNames)});
    }
    if (!rule.nonResourceURLs.empty()) {
      review.status.nonResourceRules.push_back(
          {.verbs = std::move(rule.verbs), .nonResourceURLs = std::move(rule.nonResourceURLs)});
    }
  }
  review.status.incomplete = rules.incomplete;
  review.status.evaluationError = std::move(rules.error);
  EndReview(call, *exchange);
}

}  // namespace cox::apiserver
