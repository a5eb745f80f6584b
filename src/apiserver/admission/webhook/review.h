// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/admission/v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook/webhook.h"

// The AdmissionReview: what a webhook is sent, and what its answer means.
namespace cox::apiserver {

// Whether the object is one of the resource's, and not of what its subresource speaks (Scale).
bool IsOfResource(const Object& object, const ServedResource& resource);
// The object as a client of `as` sees it.
Object InVersion(const Object& object, const ServedResource& as);

// The request as JSON: `as` is what the webhook is told it is about, see MatchWebhook.
std::string EncodeReview(const Webhook& webhook, const ServedResource& as,
                         const AdmissionRequest& request, const std::string& uid);

// The response in an answer. Errors: InternalError with upstream's words for an answer that is none
// to the review `uid`: another uid, another kind, a patch without its type, a patch by a webhook
// that only validates.
Result<admission::v1::AdmissionResponse> ReadReview(const Value& answer, const Webhook& webhook,
                                                    const std::string& uid, bool mutating);

// What a client is told of a request that the webhook denied: the webhook's own status, at least
// 400, with `admission webhook "x" denied the request: ` before its message.
Status Denial(const std::string& webhook, const meta::v1::Status* status);

}  // namespace cox::apiserver
