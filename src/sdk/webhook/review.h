// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "coxswain/admission.h"
#include "object/kind.h"

// AdmissionReview (admission.k8s.io/v1) in and out.
namespace cox::sdk {

// What goes back to the API server: an HTTP code and a body.
struct HookAnswer {
  int code = 200;
  std::string body;
  std::string_view content_type = "application/json";
};

// An answer that is no review: the API server treats it as a failure of the webhook.
HookAnswer FailedAnswer(const Status& why);

// The request of a review. BadRequest if the text is something else, or has no uid.
Result<admission::v1::AdmissionRequest> ReadAdmissionReview(std::string_view body);

// One review from text to text: reads it, asks the handler, and writes down what came of it.
// `kind` null: any.
HookAnswer AnswerMutating(Context& ctx, std::string_view body, const KindInfo* kind,
                          const MutateHandler<Object>& handler);
HookAnswer AnswerValidating(Context& ctx, std::string_view body, const KindInfo* kind,
                            const ValidateHandler<Object>& handler);

}  // namespace cox::sdk
