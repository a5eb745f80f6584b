// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "object/patch/merge_patch.h"
#include "patch_input.h"

namespace {

using cox::Value;

bool HasNull(const Value& value) {
  if (value.is_array()) {
    return std::any_of(value.as_array().begin(), value.as_array().end(), HasNull);
  }
  if (value.is_object()) {
    return std::any_of(value.as_object().begin(), value.as_object().end(),
                       [](const auto& member) { return HasNull(member.value); });
  }
  return value.is_null();
}

}  // namespace

// Merging is idempotent; a created patch converts one document to the other.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox;
  std::optional<fuzz::PatchInput> input = fuzz::ReadPatchInput(data, size);
  if (!input) return 0;
  Result<Value> other = json::Parse(input->patch);
  if (!other.ok()) return 0;

  if (Result<Value> once = patch::ApplyMergePatch(input->document, *other); once.ok()) {
    Result<Value> twice = patch::ApplyMergePatch(*once, *other);
    fuzz::Require(twice.ok(), "a patch applies to its own result");
    // Nulls in an array are dropped only if the array does not replace an object.
    if (!HasNull(*once)) fuzz::Require(*once == *twice, "merging is idempotent");
  }

  if (!input->document.is_object() || HasNull(*other)) return 0;
  Result<Value> patch = patch::CreateMergePatch(input->document, *other);
  if (!patch.ok()) return 0;
  Result<Value> patched = patch::ApplyMergePatch(input->document, *patch);
  fuzz::Require(patched.ok() && *patched == *other, "apply(a, diff(a, b)) is b");
  (void)patch::CreateThreeWayMergePatch(*other, input->document, *other).ok();
  return 0;
}
