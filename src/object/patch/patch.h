// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "object/codec/json/json.h"
#include "object/type/type.h"
#include "object/type/value.h"

// PATCH requests: detects the type of a patch and applies it to an object.
//
// The patch types are implemented in json_patch.h, merge_patch.h and strategic.h, with detailed
// errors. The functions here return the API server's errors, which are less detailed (see Apply).
namespace cox::patch {

enum class PatchType : uint8_t {
  kJson,       // application/json-patch+json
  kMerge,      // application/merge-patch+json
  kStrategic,  // application/strategic-merge-patch+json
  kApply,      // application/apply-patch+yaml: server-side apply, see object/apply
};

std::string_view MediaType(PatchType type);
// By the media type of a request, with or without parameters ("; charset=utf-8"); nullopt if it is
// not a patch type, which is then UnsupportedMediaType. Case-sensitive, as in the API server.
std::optional<PatchType> PatchTypeOf(std::string_view media_type);

// Applies the patch in `body` to `original`. `type` is the type of the object; only strategic
// patches use it. `strict` receives duplicate fields of the patch, and unknown fields of JSON Patch
// operations; unknown fields of the object are detected when the result is decoded.
//
// Errors: BadRequest for an invalid patch; RequestEntityTooLarge for too many operations; Invalid
//   without the cause for a JSON Patch that cannot be applied (and a strategic patch with lists of
//   lists); no reason (code 500) for other failures of strategic patches.
// REQUIRES: patch is not kApply.
Result<Value> Apply(PatchType patch, const Value& original, std::string_view body, const Type& type,
                    json::Strictness* strict = nullptr);

// The same for a typed object. `strict` also receives fields of the result that T does not have.
// Structs do not contain apiVersion and kind, so changes of them are lost.
template <class T>
Result<T> ApplyTo(PatchType patch, const T& original, std::string_view body,
                  json::Strictness* strict = nullptr) {
  COX_ASSIGN_OR_RETURN(Value patched,
                       Apply(patch, json::ToValue(original), body, TypeOf<T>(), strict));
  return json::FromValue<T>(patched, strict);
}

}  // namespace cox::patch
