// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "coxswain/admission.h"
#include "object/type/kind.h"
#include "sdk/webhook/hook_response.h"

// Processing of AdmissionReview (admission.k8s.io/v1).
namespace cox::sdk {

// Decodes the review, calls the handler, and encodes its response. `kind` null: any kind.
HookResponse ReviewMutating(Context& ctx, std::string_view body, const KindInfo* kind,
                            const MutateHandler<Object>& handler);
HookResponse ReviewValidating(Context& ctx, std::string_view body, const KindInfo* kind,
                              const ValidateHandler<Object>& handler);

}  // namespace cox::sdk
