// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/attempt.h"

#include <algorithm>
#include <utility>

#include "apiserver/admission/webhook/review.h"
#include "apiserver/registry/store/names.h"
#include "base/log.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

// The remaining time of the request in whole seconds, which is sent to the webhook as its timeout.
std::chrono::seconds TimeFor(const Context& ctx, std::chrono::seconds timeout) {
  if (ctx.deadline() == Clock::kNever) return timeout;
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(ctx.deadline() - ctx.clock().Monotonic());
  return std::clamp(left, std::chrono::seconds(1), timeout);
}

// The status code of a failed call for the metrics.
int CodeOf(const Status& why) { return why.message().starts_with("Post ") ? 400 : why.code(); }

}  // namespace

Status InternalError(const std::string& why) {
  StatusDetails details;
  details.causes.push_back({.type = "", .message = why, .field = ""});
  return Status(Reason::kInternalError, "Internal error occurred: " + why, std::move(details));
}

void WebhookAttempt::Start(Context& ctx) {
  const Webhook& webhook = subject_.webhook;
  begun_ = ctx.clock().Monotonic();
  if (request_.dry_run && !webhook.dry_run_safe) {
    unsafe_ = true;
    return;
  }
  if (webhook.review_version.empty()) {
    not_started_ = Status::Internal(
        "could not create admission objects: webhook does not accept known AdmissionReview "
        "versions (v1, v1beta1)");
    return;
  }
  if (!webhook.client) {
    not_started_ = Status::Internal("could not get REST client: " + webhook.problem.message());
    return;
  }
  uid_ = NewUid();
  call_ = webhook.client->Start(ctx, EncodeReview(webhook, subject_.as, request_, uid_),
                                TimeFor(ctx, webhook.timeout));
}

Result<admission::v1::AdmissionResponse> WebhookAttempt::SendReview() {
  if (!not_started_.ok()) return not_started_;
  const Result<Value> answer = call_->Wait();
  ended_ = call_->ended();
  call_.reset();
  if (!answer.ok()) {
    const Status& why = answer.status();
    // Keep the status code for the metrics.
    return Status(why.reason(), "failed to call webhook: " + why.message(), why.details());
  }
  auto response = ReadReview(*answer, subject_.webhook, uid_, type_ == Type::kMutating);
  if (!response.ok()) {
    return Status::Unavailable("received invalid webhook response: " + response.status().message());
  }
  return response;
}

WebhookAttempt::Outcome WebhookAttempt::Finish(Context& ctx) {
  const Webhook& webhook = subject_.webhook;
  if (unsafe_) {
    return {.status = Fail(ctx, Status::BadRequest("admission webhook " + Quote(webhook.name) +
                                                   " does not support dry run")),
            .patch = {}};
  }
  Result<admission::v1::AdmissionResponse> response = SendReview();
  if (!response.ok()) return CallFailed(ctx, response.status());
  PassOn(*response);
  if (!response->allowed) {
    Status denial = Denial(webhook.name, response->status ? &*response->status : nullptr);
    Count(ctx, "no_error", /*rejected=*/true, denial.code());
    return {.status = std::move(denial), .patch = {}};
  }
  if (!response->patch.empty() && response->patchType != "JSONPatch") {
    return CallFailed(ctx,
                      Status::Internal("unsupported patch type " + Quote(*response->patchType)));
  }
  return {.status = {}, .patch = std::move(response->patch)};
}

WebhookAttempt::Outcome WebhookAttempt::CallFailed(Context& ctx, const Status& why) {
  const Webhook& webhook = subject_.webhook;
  const std::string text = "failed calling webhook " + Quote(webhook.name) + ": " + why.message();
  const int code = CodeOf(why);
  if (!webhook.ignore_failure) {
    COX_WARNING(ctx.log(), "Failed calling webhook, failing closed", {"webhook", webhook.name},
                {"err", why.message()});
    Count(ctx, "calling_webhook_error", /*rejected=*/true, code);
    return {.status = InternalError(text), .patch = {}};
  }
  COX_WARNING(ctx.log(), "Failed calling webhook, failing open", {"webhook", webhook.name},
              {"err", why.message()});
  Count(ctx, {}, /*rejected=*/false, code);
  if (metrics_ != nullptr) metrics_->CountFailOpen(webhook.name, type_name());
  const bool again = request_.reinvocation != nullptr && request_.reinvocation->again;
  request_.Annotate(
      std::string(type_ == Type::kMutating ? "failed-open.mutation.webhook.admission.k8s.io/"
                                           : "failed-open.validating.webhook.admission.k8s.io/") +
          "round_" + (again ? "1" : "0") + "_index_" + std::to_string(subject_.index),
      webhook.name);
  // The deadline has passed, so that no other webhook can be called.
  if (ctx.Done()) {
    return {
        .status = Status::Timeout("Timeout: request did not complete within requested timeout - " +
                                  ctx.status().message()),
        .patch = {}};
  }
  return {};
}

Status WebhookAttempt::Fail(Context& ctx, Status why) {
  Count(ctx, "apiserver_internal_error", /*rejected=*/true, 0);
  return why;
}

void WebhookAttempt::Succeed(Context& ctx) { Count(ctx, {}, /*rejected=*/false, 200); }

void WebhookAttempt::PassOn(const admission::v1::AdmissionResponse& response) const {
  if (request_.warnings != nullptr) {
    request_.warnings->insert(request_.warnings->end(), response.warnings.begin(),
                              response.warnings.end());
  }
  for (const auto& [key, value] : response.auditAnnotations) {
    request_.Annotate(subject_.webhook.name + "/" + key, value);
  }
}

void WebhookAttempt::Count(Context& ctx, std::string_view error_type, bool rejected, int code) {
  if (metrics_ == nullptr || std::exchange(counted_, true)) return;
  const AdmissionMetrics::WebhookCall call{.name = subject_.webhook.name,
                                           .type = type_name(),
                                           .operation = request_.operation,
                                           .rejected = rejected,
                                           .code = code};
  const Clock::SteadyTime ended = ended_ == Clock::SteadyTime{} ? ctx.clock().Monotonic() : ended_;
  metrics_->ObserveWebhook(call, ended - begun_);
  if (rejected) metrics_->CountRejection(call, error_type);
}

}  // namespace cox::apiserver
