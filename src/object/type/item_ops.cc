// SPDX-License-Identifier: Apache-2.0
#include "object/type/item_ops.h"

#include <new>

namespace cox {

void* NewItem(const ItemOps& ops) {
  void* const item = ::operator new(ops.size);
  ops.construct(item);
  return item;
}

void* CloneItem(const ItemOps& ops, const void* item) {
  void* const copy = ::operator new(ops.size);
  ops.copy(copy, item, 1);
  return copy;
}

void DeleteItem(const ItemOps& ops, void* item) {
  if (item == nullptr) return;
  ops.destroy(item, 1);
  ::operator delete(item);
}

}  // namespace cox
