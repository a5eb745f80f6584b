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

// The PATCH request: which kind of patch a body is, and the object with it applied.
//
// The kinds themselves are in json_patch.h, merge_patch.h and strategic.h, with errors that say
// what went wrong. The functions here give the API server's answers instead, which tell less (see
// Apply).
namespace cox::patch {

enum class PatchType : uint8_t {
  kJson,       // application/json-patch+json
  kMerge,      // application/merge-patch+json
  kStrategic,  // application/strategic-merge-patch+json
  kApply,      // application/apply-patch+yaml: server-side apply, see object/apply
};

std::string_view MediaType(PatchType type);
// By the media type of a request, with or without parameters ("; charset=utf-8"); none if there is
// no such patch, which is then UnsupportedMediaType. Case matters, as in the API server.
std::optional<PatchType> PatchTypeOf(std::string_view media_type);

// `original` with the patch in `body` applied. `type` is that of the object; only strategic patches
// use it. `strict` gets the patch's duplicate fields, and the unknown ones of JSON Patch
// operations; unknown fields of the object show when the result is decoded.
//
// Errors: BadRequest for a body that is no such patch; RequestEntityTooLarge for too many
// operations;
//   Invalid with a text that names no cause for a JSON Patch that does not apply (and a strategic
//   patch with lists of lists); no reason (code 500) for other failures of strategic patches.
// REQUIRES: patch is not kApply.
Result<Value> Apply(PatchType patch, const Value& original, std::string_view body, const Type& type,
                    json::Strictness* strict = nullptr);

// The same for a typed object. `strict` also gets what the result has and T does not.
// The object goes without apiVersion and kind, which structs do not hold: a patch of them is lost.
template <class T>
Result<T> ApplyTo(PatchType patch, const T& original, std::string_view body,
                  json::Strictness* strict = nullptr) {
  COX_ASSIGN_OR_RETURN(Value patched,
                       Apply(patch, json::ToValue(original), body, TypeOf<T>(), strict));
  return json::FromValue<T>(patched, strict);
}

}  // namespace cox::patch
