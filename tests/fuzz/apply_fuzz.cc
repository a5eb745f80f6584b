// SPDX-License-Identifier: Apache-2.0
// Server-side apply: the input is the live object, a zero byte and the patch. Applying the same
// patch twice must not change anything the second time, unless the object had no managers before.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "object/apply/field_manager.h"
#include "object/codec/json/json.h"
#include "object/runtime_type.h"

namespace {

constexpr std::string_view kSchema = R"json({"type":"object","properties":{
  "metadata":{"x-kubernetes-preserve-unknown-fields":true},
  "n":{"type":"integer"},"s":{"type":"string"},
  "map":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}},
  "atom":{"type":"object","additionalProperties":{"type":"string"},"x-kubernetes-map-type":"atomic"},
  "set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
  "list":{"type":"array","items":{"type":"string"}},
  "items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["p","q"],
    "items":{"type":"object","properties":{"p":{"type":"integer"},"q":{"type":"string","default":"TCP"},
      "v":{"type":"string"},"set":{"type":"array","items":{"type":"number"},"x-kubernetes-list-type":"set"}}}},
  "any":{"x-kubernetes-preserve-unknown-fields":true}}})json";

const cox::apply::FieldManager& Manager() {
  static const std::shared_ptr<const cox::RuntimeType> kType =
      *cox::RuntimeType::FromSchema(*cox::json::Parse(kSchema));
  static const cox::apply::FieldManager kManager(kType->type(), {.api_version = "v1", .kind = "T"});
  return kManager;
}

// The API server decodes metadata before an apply, so it is an object.
bool HasInvalidMetadata(const cox::Value& object) {
  const cox::Value* const metadata = object.Find("metadata");
  return metadata != nullptr && !metadata->is_object();
}

bool HasManagers(const cox::Value& object) {
  const cox::Value* const metadata = object.Find("metadata");
  const cox::Value* const managers =
      metadata != nullptr ? metadata->Find("managedFields") : nullptr;
  return managers != nullptr && managers->is_array() && !managers->as_array().empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t zero = input.find('\0');
  if (zero == std::string_view::npos) return 0;
  auto live = cox::json::Parse(input.substr(0, zero));
  auto patch = cox::json::Parse(input.substr(zero + 1));
  if (!live.ok() || !patch.ok() || !live->is_object() || !patch->is_object()) return 0;
  if (HasInvalidMetadata(*live) || HasInvalidMetadata(*patch)) return 0;
  for (cox::Value* object : {&*live, &*patch}) {
    object->as_object()["apiVersion"] = "v1";
    object->as_object()["kind"] = "T";
  }
  const auto& manager = Manager();
  auto updated = manager.Update(*live, *patch, "updater", "2026-01-01T00:00:00Z");
  if (updated.ok()) {
    auto same = manager.Update(*updated, *updated, "other", "2026-01-02T00:00:00Z");
    if (!same.ok()) std::abort();
  }
  auto once = manager.Apply(*live, *patch, "applier", true, "2026-01-01T00:00:00Z");
  if (!once.ok()) return 0;
  // An empty patch can remove the last manager, for example one that owned nothing. Like upstream,
  // the next apply then makes "before-first-apply" the manager of the existing fields.
  if (!HasManagers(*once)) {
    once = manager.Apply(*once, *patch, "applier", true, "2026-01-01T00:00:00Z");
    if (!once.ok()) std::abort();
  }
  auto twice = manager.Apply(*once, *patch, "applier", false, "2026-01-02T00:00:00Z");
  if (!twice.ok()) std::abort();
  if (cox::json::Write(*twice) != cox::json::Write(*once)) std::abort();
  return 0;
}
