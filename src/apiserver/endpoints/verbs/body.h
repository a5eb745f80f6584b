// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "apiserver/endpoints/verbs/options.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/request/call.h"
#include "object/patch/patch.h"

// Decoding of request bodies.
namespace cox::apiserver {

// Decodes the request's body as an object of `kind`. Unknown fields cause an error, warnings on the
// call, or nothing, depending on `validation`. The body may specify kinds of `scheme`. Errors:
// BadRequest with upstream's texts.
Result<Object> DecodeBody(Call& call, const Scheme& scheme, const KindInfo& kind,
                          FieldValidation validation);
// The same for the kind of a resource and for built-in kinds.
Result<Object> DecodeBody(Call& call, const ServedResource& resource, FieldValidation validation);
Result<Object> DecodeBody(Call& call, const KindInfo& builtin, FieldValidation validation);

// Reports whether the apiVersion and kind of the body match `kind`.
bool NamesKind(const Call& call, const KindInfo& kind);

// Converts collected strict decoding errors to an error or to warnings.
Status ReportStrictErrors(Call& call, const json::Strictness& strict, FieldValidation validation,
                          const KindInfo& kind);

// Decodes the configuration of a server-side apply for `kind`. Errors: BadRequest with upstream's
// texts.
Result<Value> ReadConfiguration(Call& call, const WriteOptions& options, const KindInfo& kind);

// The body. Errors: RequestEntityTooLarge.
Result<std::string_view> ReadBody(const Call& call);

// The patch type according to the Content-Type. Errors: UnsupportedMediaType.
Result<patch::PatchType> ReadPatchType(const Call& call);
Status UnsupportedPatchError();

// The error text for a kind that is not registered in the scheme.
std::string NotRegisteredText(const GroupVersionKind& gvk);

}  // namespace cox::apiserver
