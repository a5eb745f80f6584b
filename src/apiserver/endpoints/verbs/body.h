// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "apiserver/endpoints/verbs/options.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/request/call.h"
#include "object/patch/patch.h"

// Bodies of requests.
namespace cox::apiserver {

// The request's body as an object of `kind`. Unknown fields are an error, warnings on the call, or
// nothing, as `validation` says. The body may name kinds of `scheme`. BadRequest with upstream's
// texts.
Result<Object> DecodeBody(Call& call, const Scheme& scheme, const KindInfo& kind,
                          FieldValidation validation);
// The same for the kind of a resource, and for built-in kinds.
Result<Object> DecodeBody(Call& call, const ServedResource& resource, FieldValidation validation);
Result<Object> DecodeBody(Call& call, const KindInfo& builtin, FieldValidation validation);

// Whether the body says it is of this kind, rather than of another one or none.
bool NamesKind(const Call& call, const KindInfo& kind);

// Turns collected strictness into an error or warnings.
Status JudgeStrictness(Call& call, const json::Strictness& strict, FieldValidation validation,
                       const KindInfo& kind);

// The configuration of a server-side apply, of `kind`. BadRequest with upstream's texts.
Result<Value> ReadConfiguration(Call& call, const WriteOptions& options, const KindInfo& kind);

// The body, or RequestEntityTooLarge.
Result<std::string_view> ReadBody(const Call& call);

// The type of patch the body is, by its Content-Type. UnsupportedMediaType.
Result<patch::PatchType> ReadPatchType(const Call& call);
Status UnsupportedPatchError();

// What is said of a kind that nobody knows, or not here.
std::string NotRegisteredText(const GroupVersionKind& gvk);

}  // namespace cox::apiserver
