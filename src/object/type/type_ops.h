// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "object/type/containers.h"
#include "object/type/type.h"

// The ListOps and MapOps of each type, for access to lists and maps through the type tables. Only
// generated code, the description of custom kinds, and tests that build tables by hand include
// this.
namespace cox {

// The functions in the ListOps of every List.
namespace list_functions {
ItemSpan Items(const void* list);
void Reserve(const ListOps& ops, void* list, size_t n);
void* Append(const ListOps& ops, void* list);
void Clear(const ListOps& ops, void* list);
}  // namespace list_functions

template <class T>
inline constexpr ListOps kListOps = {
    .stride = sizeof(T),
    .item = &Items<T>::kOps,
    .items = list_functions::Items,
    .reserve = list_functions::Reserve,
    .append = list_functions::Append,
    .clear = list_functions::Clear,
};

// The ListOps of a std::vector, which structs of SDK users may contain.
template <class T>
inline constexpr ListOps kVectorOps = {
    .stride = sizeof(T),
    .item = nullptr,
    .items =
        [](const void* list) {
          const auto& items = *static_cast<const std::vector<T>*>(list);
          return ItemSpan{const_cast<T*>(items.data()), items.size()};
        },
    .reserve = [](const ListOps&, void* list,
                  size_t n) { static_cast<std::vector<T>*>(list)->reserve(n); },
    .append = [](const ListOps&, void* list) -> void* {
      return &static_cast<std::vector<T>*>(list)->emplace_back();
    },
    .clear = [](const ListOps&, void* list) { static_cast<std::vector<T>*>(list)->clear(); },
};

template <class V>
inline constexpr MapOps kMapOps = {
    .stride = sizeof(typename Map<V>::Entry),
    .value_offset = offsetof(typename Map<V>::Entry, second),
    .entry = &Items<typename Map<V>::Entry>::kOps,
};

// The operations of scalars, defined once for all packages.
namespace scalar_ops {
extern const ListOps kStringList, kBoolList, kInt32List, kInt64List, kRawList, kTimeList,
    kQuantityList, kIntOrStringList;
extern const MapOps kStringMap, kInt32Map, kInt64Map, kQuantityMap, kRawMap, kTimeMap;
}  // namespace scalar_ops

}  // namespace cox
