// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "api/admission/v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/admission/admission_metrics.h"
#include "apiserver/admission/webhook/webhook.h"

namespace cox::apiserver {

// "Internal error occurred: <why>": upstream's error for failures that the client did not cause.
Status InternalError(const std::string& why);

// One call of one webhook for one request: sends the review and evaluates the response. Adds the
// warnings and audit annotations of the response to the request.
//
// Lifetime: borrows all arguments; the destructor cancels the call.
class WebhookAttempt {
 public:
  enum class Type : uint8_t { kMutating, kValidating };
  struct Subject {
    const Webhook& webhook;
    const ServedResource& as;  // see MatchWebhook
    size_t index;              // of the webhook in the list of all webhooks
  };
  // `request` contains the object to send to the webhook.
  WebhookAttempt(Type type, const Subject& subject, const AdmissionRequest& request,
                 AdmissionMetrics* metrics)
      : type_(type), subject_(subject), request_(request), metrics_(metrics) {}

  // Sends the review; does not block.
  void Start(Context& ctx);

  // Waits for the response. OK: the webhook allows the request, possibly with a patch, or the call
  // failed and failurePolicy is Ignore. Otherwise the error for the client:
  //   - the webhook's denial;
  //   - InternalError `failed calling webhook "x": ...` if the call failed or the response is
  //     invalid;
  //   - BadRequest for a dry run if the webhook does not support it;
  //   - Timeout if the deadline of the request has passed.
  struct Outcome {
    Status status;
    std::string patch;  // of a mutating webhook: a JSON Patch
  };
  Outcome Finish(Context& ctx);

  // Counts and returns a later error, for example of the patch.
  Status Fail(Context& ctx, Status why);
  // Counts the call as successful, unless it was already counted as an ignored failure.
  void Succeed(Context& ctx);

 private:
  // Returns an error if the call failed. A denial is part of the response.
  Result<admission::v1::AdmissionResponse> SendReview();
  Outcome CallFailed(Context& ctx, const Status& why);
  void PassOn(const admission::v1::AdmissionResponse& response) const;
  // Updates the metrics, only the first time.
  void Count(Context& ctx, std::string_view error_type, bool rejected, int code);
  std::string_view type_name() const { return type_ == Type::kMutating ? "admit" : "validating"; }

  const Type type_;
  const Subject subject_;
  const AdmissionRequest& request_;
  AdmissionMetrics* const metrics_;
  std::string uid_;
  Clock::SteadyTime begun_{};
  Clock::SteadyTime ended_{};  // time of the response, not of Finish
  Status not_started_;         // the error if the call was not started
  bool unsafe_ = false;        // a dry run that the webhook does not support
  bool counted_ = false;
  std::unique_ptr<WebhookCall> call_;
};

}  // namespace cox::apiserver
