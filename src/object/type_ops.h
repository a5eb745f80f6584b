// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "object/map.h"
#include "object/type.h"

// How generated tables give the engine hold of structs, lists and maps. Only generated code and
// tests that build tables by hand include this.
namespace cox {

template <class T>
inline constexpr StructOps kStructOps = {
    .create = []() -> void* { return new T{}; },
    .clone = [](const void* object) -> void* { return new T(*static_cast<const T*>(object)); },
    .destroy = [](void* object) { delete static_cast<T*>(object); },
};

template <class T>
inline constexpr ListOps kListOps = {
    .stride = sizeof(T),
    .items =
        [](const void* list) {
          const auto& items = *static_cast<const std::vector<T>*>(list);
          return ItemSpan{const_cast<T*>(items.data()), items.size()};
        },
    .reserve = [](void* list, size_t n) { static_cast<std::vector<T>*>(list)->reserve(n); },
    .append = [](void* list) -> void* {
      return &static_cast<std::vector<T>*>(list)->emplace_back();
    },
    .clear = [](void* list) { static_cast<std::vector<T>*>(list)->clear(); },
};

template <class V>
inline constexpr MapOps kMapOps = {
    .stride = sizeof(typename Map<V>::Entry),
    .value_offset = offsetof(typename Map<V>::Entry, second),
    .entries =
        [](const void* map) {
          const auto& entries = *static_cast<const Map<V>*>(map);
          const void* first = entries.empty() ? nullptr : &*entries.begin();
          return ItemSpan{const_cast<void*>(first), entries.size()};
        },
    .append = [](void* map, std::string_view key) -> void* {
      return &static_cast<Map<V>*>(map)->Append(std::string(key));
    },
    .seal = [](void* map) { return static_cast<Map<V>*>(map)->Seal(); },
    .clear = [](void* map) { static_cast<Map<V>*>(map)->clear(); },
};

// Those of scalars, made once for all packages.
namespace scalar_ops {
extern const ListOps kStringList, kBoolList, kInt32List, kInt64List, kRawList, kTimeList,
    kQuantityList, kIntOrStringList;
extern const MapOps kStringMap, kInt32Map, kInt64Map, kQuantityMap, kRawMap, kTimeMap;
}  // namespace scalar_ops

}  // namespace cox
