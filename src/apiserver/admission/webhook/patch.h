// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook/webhook.h"

namespace cox::apiserver {

// Applies the JSON Patch of a webhook to `object`, in the version that was sent to the webhook, and
// sets defaults of this version. Returns true if the object has changed. `object` is null for
// delete, which cannot be patched.
//
// Errors: InternalError if the patch is invalid, cannot be applied or changes the kind of the
// object;
//   BadRequest if it changes the namespace. The object is unchanged on errors.
Result<bool> ApplyWebhookPatch(std::string_view patch, const Webhook& webhook,
                               const ServedResource& as, const AdmissionRequest& request,
                               Object* object);

}  // namespace cox::apiserver
