// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook/webhook.h"

namespace cox::apiserver {

// Applies what a webhook answered with (a JSON Patch) to `object`, in the version the webhook was
// told, with that version's defaults set on what it left. True if that changed the object. Null: a
// deletion, which has nothing to patch.
//
// Errors: InternalError for a patch that is none, does not apply or makes something else of the
//   object than it was; BadRequest for one that moves the object to another namespace. The object
//   is as before then.
Result<bool> ApplyWebhookPatch(std::string_view patch, const Webhook& webhook,
                               const ServedResource& as, const AdmissionRequest& request,
                               Object* object);

}  // namespace cox::apiserver
