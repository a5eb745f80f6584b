// SPDX-License-Identifier: Apache-2.0
#include "object/type/box.h"

#include <new>

namespace cox {

void* BoxBase::Emplace(const ItemOps& ops) noexcept {
  void* const made = NewItem(ops);
  Reset(ops);
  return pointer_ = made;
}

void BoxBase::Reset(const ItemOps& ops) noexcept {
  DeleteItem(ops, std::exchange(pointer_, nullptr));
}

void BoxBase::MoveValue(const ItemOps& ops, void* value) noexcept {
  pointer_ = ::operator new(ops.size);
  ops.move(pointer_, value);
}

void BoxBase::CopyFrom(const ItemOps& ops, const BoxBase& other) noexcept {
  // Copy first, because `other` may be part of the object that this Box holds.
  void* const copy = other.pointer_ != nullptr ? CloneItem(ops, other.pointer_) : nullptr;
  Reset(ops);
  pointer_ = copy;
}

BoxBase::BoxBase(const ItemOps& ops, const BoxBase& other) noexcept
    : pointer_(other.pointer_ != nullptr ? CloneItem(ops, other.pointer_) : nullptr) {}

void BoxBase::MoveFrom(const ItemOps& ops, BoxBase& other) noexcept {
  void* const taken = std::exchange(other.pointer_, nullptr);
  Reset(ops);
  pointer_ = taken;
}

bool BoxBase::Equals(const ItemOps& ops, const BoxBase& other) const noexcept {
  if (pointer_ == nullptr || other.pointer_ == nullptr) return pointer_ == other.pointer_;
  return ops.equal(pointer_, other.pointer_, 1);
}

}  // namespace cox
