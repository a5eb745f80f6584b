// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace cox {

// Type-erased operations on the items of List, Box and Map.
struct ItemOps {
  uint32_t size;                // sizeof(T)
  void (*construct)(void* to);  // T{}
  // Copies into raw memory.
  void (*copy)(void* to, const void* from, size_t count);
  // Moves into raw memory. `from` still has to be destroyed.
  void (*move)(void* to, void* from);
  // Moves the items into raw memory and destroys the originals. The ranges may overlap.
  void (*relocate)(void* to, void* from, size_t count);
  void (*destroy)(void* items, size_t count);
  bool (*equal)(const void* a, const void* b, size_t count);
};

// The ItemOps of T. They are defined once per type: by the generated source of an API struct, by
// containers.cc for scalars, and by the file that includes object/type/containers.h for any other
// type.
template <class T>
struct Items {
  static const ItemOps kOps;
};

// Items on the heap.
void* NewItem(const ItemOps& ops);
void* CloneItem(const ItemOps& ops, const void* item);
void DeleteItem(const ItemOps& ops, void* item);

}  // namespace cox

// For the headers whose inline functions name Items<T>::kOps: it is defined by other source files,
// which clang warns about.
#if defined(__clang__)  // clang-format off
#define COX_BEGIN_ITEM_OPS \
  _Pragma("clang diagnostic push") \
  _Pragma("clang diagnostic ignored \"-Wundefined-var-template\"")
#define COX_END_ITEM_OPS _Pragma("clang diagnostic pop")
#else  // clang-format on
#define COX_BEGIN_ITEM_OPS
#define COX_END_ITEM_OPS
#endif
