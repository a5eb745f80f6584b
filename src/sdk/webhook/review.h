// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "coxswain/admission.h"
#include "object/type/kind.h"
#include "sdk/webhook/hook_answer.h"

// AdmissionReview (admission.k8s.io/v1) in and out.
namespace cox::sdk {

// One review from text to text: reads it, asks the handler, and writes down what came of it.
// `kind` null: any.
HookAnswer AnswerMutating(Context& ctx, std::string_view body, const KindInfo* kind,
                          const MutateHandler<Object>& handler);
HookAnswer AnswerValidating(Context& ctx, std::string_view body, const KindInfo* kind,
                            const ValidateHandler<Object>& handler);

}  // namespace cox::sdk
