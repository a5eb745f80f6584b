// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <new>
#include <utility>

#include "object/type/box.h"
#include "object/type/list.h"
#include "object/type/map.h"

// Defines Items<T>::kOps for any type. Include it in the source file that owns a type which is held
// by a List, Box or Map; the generated sources do so for the API structs.
namespace cox {

// Null if T has no operator==; a List or Box of T cannot be compared then.
template <class T>
constexpr auto EqualItems() -> bool (*)(const void*, const void*, size_t) {
  if constexpr (std::equality_comparable<T>) {
    return [](const void* a, const void* b, size_t count) {
      auto* const items = static_cast<const T*>(a);
      return std::equal(items, items + count, static_cast<const T*>(b));
    };
  } else {
    return nullptr;
  }
}

template <class T>
constinit const ItemOps Items<T>::kOps = {
    .size = sizeof(T),
    .construct = [](void* to) { new (to) T{}; },
    .copy =
        [](void* to, const void* from, size_t count) {
          auto* const source = static_cast<const T*>(from);
          for (size_t i = 0; i < count; ++i) new (static_cast<T*>(to) + i) T(source[i]);
        },
    .move = [](void* to, void* from) { new (to) T(std::move(*static_cast<T*>(from))); },
    .relocate =
        [](void* to, void* from, size_t count) {
          auto* const target = static_cast<T*>(to);
          auto* const source = static_cast<T*>(from);
          const bool forward = to < from;
          for (size_t n = 0; n < count; ++n) {
            const size_t i = forward ? n : count - 1 - n;
            new (target + i) T(std::move(source[i]));
            source[i].~T();
          }
        },
    .destroy = [](void* items, size_t count) { std::destroy_n(static_cast<T*>(items), count); },
    .equal = EqualItems<T>(),
};

}  // namespace cox
