// SPDX-License-Identifier: Apache-2.0
#include "object/patch/patch.h"

#include <array>

#include "base/strings.h"
#include "object/patch/json_patch.h"
#include "object/patch/merge_patch.h"
#include "object/patch/strategic.h"
#include "object/type/go_text.h"

namespace cox::patch {
namespace {

constexpr std::array<std::pair<PatchType, std::string_view>, 4> kMediaTypes = {{
    {PatchType::kJson, "application/json-patch+json"},
    {PatchType::kMerge, "application/merge-patch+json"},
    {PatchType::kStrategic, "application/strategic-merge-patch+json"},
    {PatchType::kApply, "application/apply-patch+yaml"},
}};

Result<Value> ApplyJson(const Value& original, std::string_view body, json::Strictness* strict) {
  COX_ASSIGN_OR_RETURN(JsonPatch patch, ParseJsonPatch(body, strict));
  return ApplyJsonPatch(original, patch);
}

Result<Value> ApplyMerge(const Value& original, std::string_view body, json::Strictness* strict) {
  Result<Value> patch = json::Parse(body, strict);
  std::string why = patch.status().message();
  if (patch.ok() && !patch->is_object() && !patch->is_null()) {
    why = CannotUnmarshal(*patch, "value of type map[string]interface {}");
  }
  if (!why.empty()) return Status::BadRequest("error decoding patch: " + why);
  return ApplyMergePatch(original, *patch);
}

Result<Value> ApplyStrategic(const Value& original, std::string_view body, const Type& type,
                             json::Strictness* strict) {
  COX_ASSIGN_OR_RETURN(Value patch, json::Parse(body, strict));
  return ApplyStrategicPatch(original, patch, type);
}

Result<Value> ApplyAny(PatchType patch, const Value& original, std::string_view body,
                       const Type& type, json::Strictness* strict) {
  switch (patch) {
    case PatchType::kJson:
      return ApplyJson(original, body, strict);
    case PatchType::kMerge:
      return ApplyMerge(original, body, strict);
    case PatchType::kStrategic:
      return ApplyStrategic(original, body, type, strict);
    case PatchType::kApply:
      break;
  }
  return Status::Internal("server-side apply is not applied as a patch");
}

}  // namespace

std::string_view MediaType(PatchType type) { return kMediaTypes[static_cast<size_t>(type)].second; }

std::optional<PatchType> PatchTypeOf(std::string_view media_type) {
  std::string_view name = TrimSpace(Cut(media_type, ';').before);
  for (const auto& [type, its_name] : kMediaTypes) {
    if (name == its_name) return type;
  }
  return std::nullopt;
}

Result<Value> Apply(PatchType patch, const Value& original, std::string_view body, const Type& type,
                    json::Strictness* strict) {
  Result<Value> patched = ApplyAny(patch, original, body, type, strict);
  if (patched.status().Is(Reason::kInvalid)) {
    return Status::Invalid("the server rejected our request due to an error in our request");
  }
  return patched;
}

}  // namespace cox::patch
