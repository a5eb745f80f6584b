// SPDX-License-Identifier: Apache-2.0
#include "object/patch/precondition.h"

#include <utility>

#include "object/type/go_text.h"

namespace cox::patch {

Precondition RequireKeyUnchanged(std::string key) {
  return [key = std::move(key)](const Value& patch) { return patch.Find(key) == nullptr; };
}

Precondition RequireMetadataKeyUnchanged(std::string key) {
  return [key = std::move(key)](const Value& patch) {
    return patch.At({"metadata", key}) == nullptr;
  };
}

Status CheckPreconditions(const Value& patch, std::span<const Precondition> preconditions) {
  for (const Precondition& holds : preconditions) {
    if (!holds(patch)) return Status::Invalid("precondition failed for: " + GoText(patch));
  }
  return {};
}

}  // namespace cox::patch
