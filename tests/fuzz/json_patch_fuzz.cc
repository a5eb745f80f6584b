// SPDX-License-Identifier: Apache-2.0
#include "object/patch/depth.h"
#include "object/patch/json_patch.h"
#include "object/type/limits.h"
#include "patch_input.h"

// Every patch of every document gives a result of bounded depth or an error, deterministically.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox;
  std::optional<fuzz::PatchInput> input = fuzz::ReadPatchInput(data, size);
  if (!input) return 0;
  json::Strictness strict;
  Result<patch::JsonPatch> patch = patch::ParseJsonPatch(input->patch, &strict);
  if (!patch.ok()) return 0;
  Result<Value> result = patch::ApplyJsonPatch(input->document, *patch);
  Result<Value> again = patch::ApplyJsonPatch(input->document, *patch);
  fuzz::Require(result.status() == again.status(), "the outcome depends on the input alone");
  if (!result.ok()) return 0;
  fuzz::Require(*result == *again, "the result depends on the input alone");
  fuzz::Require(!patch::DeeperThan(*result, limits::kMaxDepth), "the depth is bounded");
  return 0;
}
