// SPDX-License-Identifier: Apache-2.0
#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "object/patch/strategic.h"
#include "patch_input.h"

namespace {

// Applying and creating patches gives a result or an error for every document and patch, also if
// they do not fit the type; a created patch can be applied.
void Try(const cox::Value& document, const cox::Value& other, const cox::Type& type) {
  using namespace cox;
  (void)patch::ApplyStrategicPatch(document, other, type).ok();
  if (Result<Value> made = patch::CreateTwoWayStrategicPatch(document, document, type); made.ok()) {
    fuzz::Require(patch::ApplyStrategicPatch(document, *made, type).ok(),
                  "the patch from a document to itself applies");
  }
  (void)patch::CreateTwoWayStrategicPatch(document, other, type).ok();
  (void)patch::CreateThreeWayStrategicPatch(document, other, document, type).ok();
  (void)patch::CreateThreeWayStrategicPatch(other, document, other, type, {.overwrite = false})
      .ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox;
  std::optional<fuzz::PatchInput> input = fuzz::ReadPatchInput(data, size);
  if (!input) return 0;
  Result<Value> other = json::Parse(input->patch);
  if (!other.ok()) return 0;
  Try(input->document, *other, core::v1::Pod::kType);
  Try(input->document, *other, apps::v1::Deployment::kType);
  Try(input->document, *other, types::kAny);
  return 0;
}
