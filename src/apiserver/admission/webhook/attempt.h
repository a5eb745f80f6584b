// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "api/admission/v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/admission/admission_metrics.h"
#include "apiserver/admission/webhook/webhook.h"

namespace cox::apiserver {

// "Internal error occurred: <why>", as upstream answers failures that are not the client's.
Status InternalError(const std::string& why);

// One call of one webhook about one request, from the review to what its answer means for the
// request. Warnings and audit annotations of the answer are passed on.
//
// Lifetime: borrows all it is given; dropping it cancels the call.
class WebhookAttempt {
 public:
  enum class Type : uint8_t { kMutating, kValidating };
  struct Subject {
    const Webhook& webhook;
    const ServedResource& as;  // see MatchWebhook
    size_t index;              // of the webhook among all
  };
  // `request` has what the webhook is to see.
  WebhookAttempt(Type type, const Subject& subject, const AdmissionRequest& request,
                 AdmissionMetrics* metrics)
      : type_(type), subject_(subject), request_(request), metrics_(metrics) {}

  // Sends the review; returns at once.
  void Start(Context& ctx);

  // Waits for the answer. OK: the webhook allows the request, with a patch perhaps, or failed in a
  // way its failurePolicy says to ignore. Else what the client is to be told:
  //   - the webhook's denial;
  //   - InternalError `failed calling webhook "x": ...` where it could not be asked or answered
  //     with something else than an answer;
  //   - BadRequest for a dry run and a webhook that knows none;
  //   - Timeout where the whole request has no time left.
  struct Verdict {
    Status status;
    std::string patch;  // of a mutating webhook; a JSON Patch
  };
  Verdict Finish(Context& ctx);

  // For what goes wrong with the answer later (its patch): counts and returns it.
  Status Fail(Context& ctx, Status why);
  // Counts the call as good, unless it was counted as a failure that is ignored.
  void Succeed(Context& ctx);

 private:
  // Not OK: the call failed; Denied by the webhook is part of the response.
  Result<admission::v1::AdmissionResponse> Ask();
  Verdict CallFailed(Context& ctx, const Status& why);
  void PassOn(const admission::v1::AdmissionResponse& response) const;
  // In the metrics; the first time only.
  void Count(Context& ctx, std::string_view error_type, bool rejected, int code);
  std::string_view type_name() const { return type_ == Type::kMutating ? "admit" : "validating"; }

  const Type type_;
  const Subject subject_;
  const AdmissionRequest& request_;
  AdmissionMetrics* const metrics_;
  std::string uid_;
  Clock::SteadyTime begun_{};
  Clock::SteadyTime ended_{};  // by the answer, not by whoever waits for it
  Status not_started_;         // why, if it was not
  bool unsafe_ = false;        // a dry run, and the webhook knows none
  bool counted_ = false;
  std::unique_ptr<WebhookCall> call_;
};

}  // namespace cox::apiserver
