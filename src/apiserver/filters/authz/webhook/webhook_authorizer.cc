// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/webhook/webhook_authorizer.h"

#include "api/authorization/v1.h"
#include "object/codec/json/json.h"
#include "object/object.h"
#include "object/selector/fields.h"
#include "object/selector/labels.h"

namespace cox::apiserver {
namespace {

using authorization::v1::ResourceAttributes;
using authorization::v1::SubjectAccessReview;

// The pause after the first transient failure; each further pause is 1.5 times as long.
constexpr std::chrono::milliseconds kFirstPause{500};
constexpr int kAttempts = 5;

bool MayPass(const Status& status) {
  return status.Is(Reason::kInternalError) || status.Is(Reason::kTooManyRequests);
}

// Invalid selectors are omitted, so that the review covers more rather than less.
void AddSelectors(const Selectors& selectors, ResourceAttributes& attributes) {
  const Result<fields::Selector> fields = fields::Selector::Parse(selectors.fields);
  if (fields.ok() && !fields->requirements().empty()) {
    authorization::v1::FieldSelectorAttributes selector;
    for (const fields::Requirement& term : fields->requirements()) {
      selector.requirements.push_back(
          {.key = term.field, .operator_ = term.equal ? "In" : "NotIn", .values = {term.value}});
    }
    attributes.fieldSelector = std::move(selector);
  }
  const Result<labels::Selector> labels = labels::Selector::Parse(selectors.labels);
  if (labels.ok() && !selectors.labels.empty()) {
    authorization::v1::LabelSelectorAttributes selector;
    selector.rawSelector = selectors.labels;
    attributes.labelSelector = std::move(selector);
  }
}

SubjectAccessReview MakeReview(const UserInfo& user, const RequestInfo& request,
                               const Selectors& selectors) {
  SubjectAccessReview review;
  review.spec.user = user.name;
  review.spec.uid = user.uid;
  review.spec.groups = user.groups;
  for (const auto& [key, values] : user.extra) review.spec.extra[key] = values;
  if (!request.is_resource) {
    review.spec.nonResourceAttributes =
        authorization::v1::NonResourceAttributes{.path = request.path, .verb = request.verb};
    return review;
  }
  ResourceAttributes attributes;
  attributes.namespace_ = request.namespace_;
  attributes.verb = request.verb;
  attributes.group = request.group;
  attributes.version = request.version;
  attributes.resource = request.resource;
  attributes.subresource = request.subresource;
  attributes.name = request.name;
  AddSelectors(selectors, attributes);
  review.spec.resourceAttributes = std::move(attributes);
  return review;
}

bool Flag(const Value& answer, std::string_view name) {
  const Value* value = answer.At({"status", name});
  return value != nullptr && value->is_bool() && value->as_bool();
}

std::string Text(const Value& answer, std::string_view name) {
  const Value* value = answer.At({"status", name});
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

Result<Decision> ReadReview(const Value& answer) {
  const Value* status = answer.Find("status");
  if (status == nullptr || !status->is_object()) {
    return Status::Internal("webhook answered without a status");
  }
  Decision decision;
  decision.allowed = Flag(answer, "allowed");
  decision.denied = Flag(answer, "denied");
  decision.reason = Text(answer, "reason");
  if (decision.allowed && decision.denied) {
    return Status::Internal("webhook subject access review returned both allow and deny response");
  }
  return decision;
}

}  // namespace

std::string EncodeReview(const UserInfo& user, const RequestInfo& request,
                         const Selectors& selectors, std::string_view version) {
  Value value = Object::Of(MakeReview(user, request, selectors)).ToValue();
  if (version == "v1beta1") {
    *value.Find("apiVersion") = "authorization.k8s.io/v1beta1";
    Value* spec = value.Find("spec");
    if (Value* groups = spec->Find("groups")) {
      Value taken = std::move(*groups);
      spec->as_object()["group"] = std::move(taken);
      spec->as_object().Erase("groups");
    }
  }
  return json::Write(value);
}

Result<std::unique_ptr<WebhookAuthorizer>> WebhookAuthorizer::Create(
    const Context& ctx, std::shared_ptr<WebhookConnections> connections,
    WebhookAuthorizerConfig config) {
  COX_ASSIGN_OR_RETURN(WebhookConfig target, ReadWebhookKubeconfig(config.kubeconfig));
  target.user_agent = "kube-apiserver";
  COX_ASSIGN_OR_RETURN(WebhookClient client,
                       WebhookClient::Create(std::move(connections), std::move(target)));
  return std::make_unique<WebhookAuthorizer>(ctx, std::move(client), std::move(config));
}

Result<Decision> WebhookAuthorizer::SendReview(const std::string& review_body) const {
  Context ctx = ctx_.WithTimeout(config_.timeout);
  Clock::Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    const Result<Value> answer = client_.Post(ctx, review_body);
    if (answer.ok()) return ReadReview(*answer);
    if (attempt == kAttempts || !MayPass(answer.status())) return answer.status();
    // If the timeout ends the pause, the previous error is more useful.
    if (!ctx.Sleep(pause).ok()) return answer.status();
    pause += pause / 2;
  }
}

Decision WebhookAuthorizer::Failed(const Status& status) const {
  Decision decision;
  decision.denied = config_.deny_on_failure;
  decision.error = status.message();
  return decision;
}

Decision WebhookAuthorizer::Decide(const UserInfo& user, const RequestInfo& request,
                                   const Selectors& selectors) const {
  std::string review_body = EncodeReview(user, request, selectors, config_.version);
  const std::optional<Decision> known = cache_.Find(review_body, ctx_.clock().Monotonic());
  if (known) return *known;
  const Result<Decision> decision = SendReview(review_body);
  if (!decision.ok()) return Failed(decision.status());
  const auto ttl = decision->allowed ? config_.authorized_ttl : config_.unauthorized_ttl;
  if (ttl.count() > 0) cache_.Keep(std::move(review_body), *decision, ctx_.clock().In(ttl));
  return *decision;
}

UserRules WebhookAuthorizer::Rules(const UserInfo&, std::string_view) const {
  UserRules none;
  none.incomplete = true;
  none.error = "webhook authorizer does not support user rule resolution";
  return none;
}

}  // namespace cox::apiserver
