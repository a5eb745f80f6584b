// SPDX-License-Identifier: Apache-2.0
#include "object/type/pointer.h"

#include <optional>
#include <string>

#include "object/type/api_types.h"

namespace cox {
namespace {

// Calls `use` with the std::optional at `at`, cast to the C++ type of `type`.
template <class At, class Use>
auto* WithOptional(const Type& type, At at, Use use) {
  switch (type.shape) {
    case Shape::kBool:
      return use(static_cast<std::optional<bool>*>(at));
    case Shape::kInt32:
      return use(static_cast<std::optional<int32_t>*>(at));
    case Shape::kInt64:
      return use(static_cast<std::optional<int64_t>*>(at));
    case Shape::kDouble:
      return use(static_cast<std::optional<double>*>(at));
    case Shape::kQuantity:
      return use(static_cast<std::optional<Quantity>*>(at));
    case Shape::kIntOrString:
      return use(static_cast<std::optional<IntOrString>*>(at));
    case Shape::kTime:
      return use(static_cast<std::optional<Time>*>(at));
    case Shape::kMicroTime:
      return use(static_cast<std::optional<MicroTime>*>(at));
    case Shape::kDuration:
      return use(static_cast<std::optional<Duration>*>(at));
    case Shape::kRaw:
      return use(static_cast<std::optional<RawJson>*>(at));
    default:  // kString, kBytes
      return use(static_cast<std::optional<std::string>*>(at));
  }
}

bool IsContainer(const Type& type) {
  return type.shape == Shape::kList || type.shape == Shape::kMap;
}

}  // namespace

const void* PointedTo(const Type& type, const void* at) {
  if (type.shape == Shape::kStruct) return static_cast<const BoxBase*>(at)->erased();
  if (IsContainer(type)) return at;
  return WithOptional(type, const_cast<void*>(at), [](auto* held) -> const void* {
    return held->has_value() ? &**held : nullptr;
  });
}

void* EnsurePointedTo(const Type& type, void* at) {
  if (type.shape == Shape::kStruct) {
    auto* box = static_cast<BoxBase*>(at);
    if (box->erased() == nullptr) box->Emplace(*type.struct_ops);
    return box->erased();
  }
  if (IsContainer(type)) return at;
  return WithOptional(
      type, at, [](auto* held) -> void* { return held->has_value() ? &**held : &held->emplace(); });
}

void ResetPointer(const Type& type, void* at) {
  if (type.shape == Shape::kStruct) {
    auto* box = static_cast<BoxBase*>(at);
    box->Reset(*type.struct_ops);
  } else if (!IsContainer(type)) {
    WithOptional(type, at, [](auto* held) -> void* {
      held->reset();
      return nullptr;
    });
  }
}

}  // namespace cox
