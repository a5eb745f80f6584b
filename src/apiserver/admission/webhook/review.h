// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/admission/v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook/webhook.h"

// Encoding and decoding of AdmissionReviews.
namespace cox::apiserver {

// Reports whether the object is of the resource's kind, not of a subresource's kind (Scale).
bool IsOfResource(const Object& object, const ServedResource& resource);
// Converts the object to the version of `as`.
Object InVersion(const Object& object, const ServedResource& as);

// Encodes the AdmissionReview as JSON. `as` is the resource to send to the webhook, see
// MatchWebhook.
std::string EncodeReview(const Webhook& webhook, const ServedResource& as,
                         const AdmissionRequest& request, const std::string& uid);

// The AdmissionResponse in a response. Errors: InternalError with upstream's texts if it does not
// match the review: wrong uid, wrong kind, a patch without its type, or a patch of a validating
// webhook.
Result<admission::v1::AdmissionResponse> ReadReview(const Value& answer, const Webhook& webhook,
                                                    const std::string& uid, bool mutating);

// The error for a request that a webhook denied: the webhook's status with a code of at least 400,
// and with the prefix `admission webhook "x" denied the request: `.
Status Denial(const std::string& webhook, const meta::v1::Status* status);

}  // namespace cox::apiserver
