// SPDX-License-Identifier: Apache-2.0
#include "object/type/list.h"

#include <cassert>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace cox {
namespace {

size_t Grown(size_t capacity) { return capacity == 0 ? 1 : 2 * capacity; }

}  // namespace

void ListBase::Clear(const ItemOps& ops) noexcept {
  if (size_ == 0) return;
  ops.destroy(data_, size_);
  size_ = 0;
}

void ListBase::Reserve(const ItemOps& ops, size_t count) noexcept {
  if (count > capacity_) Reallocate(ops, count);
}

void ListBase::Resize(const ItemOps& ops, size_t count) noexcept {
  if (count < size_) Erase(ops, count, size_ - count);
  Reserve(ops, count);
  while (size_ < count) Append(ops);
}

void* ListBase::Append(const ItemOps& ops) noexcept {
  if (size_ == capacity_) Reallocate(ops, Grown(capacity_));
  void* const item = At(ops, size_);
  ops.construct(item);
  ++size_;
  return item;
}

void* ListBase::Insert(const ItemOps& ops, size_t index) noexcept {
  Append(ops);
  Rotate(ops, index, size_ - 1);
  return At(ops, index);
}

void* ListBase::InsertMoved(const ItemOps& ops, size_t index, void* item) noexcept {
  return InsertPlaced(
      ops, index, [](const ItemOps& o, void* to, void* from) { o.move(to, from); }, item);
}

void* ListBase::InsertCopy(const ItemOps& ops, size_t index, const void* item) noexcept {
  return InsertPlaced(
      ops, index, [](const ItemOps& o, void* to, void* from) { o.copy(to, from, 1); },
      const_cast<void*>(item));
}

void* ListBase::InsertPlaced(const ItemOps& ops, size_t index, Place place, void* item) {
  if (size_ < capacity_) {
    place(ops, At(ops, size_), item);
  } else {
    // `item` may be an item of this list, so it is placed before the items move to the new memory.
    ListBase grown;
    grown.Reallocate(ops, Grown(capacity_));
    place(ops, grown.At(ops, size_), item);
    if (size_ != 0) ops.relocate(grown.data_, data_, size_);
    ::operator delete(data_);
    data_ = grown.data_;
    capacity_ = grown.capacity_;
  }
  ++size_;
  Rotate(ops, index, size_ - 1);
  return At(ops, index);
}

ListBase::ListBase(const ItemOps& ops, const ListBase& other) noexcept {
  if (other.size_ != 0) Assign(ops, other.data_, other.size_);
}

void ListBase::CopyFrom(const ItemOps& ops, const ListBase& other) noexcept {
  // Copy first, because `other` may be part of an item of this list.
  ListBase copy(ops, other);
  Release(ops);
  Swap(copy);
}

void ListBase::MoveFrom(const ItemOps& ops, ListBase& other) noexcept {
  // Take first, because `other` may be part of an item of this list.
  ListBase taken(std::move(other));
  Release(ops);
  Swap(taken);
}

void ListBase::Erase(const ItemOps& ops, size_t index, size_t count) noexcept {
  if (count == 0) return;
  ops.destroy(At(ops, index), count);
  const size_t behind = size_ - index - count;
  if (behind != 0) ops.relocate(At(ops, index), At(ops, index + count), behind);
  size_ -= static_cast<uint32_t>(count);
}

void ListBase::Keep(const ItemOps& ops, std::span<const size_t> indexes) noexcept {
  ListBase kept;
  kept.Reallocate(ops, indexes.size());
  for (const size_t index : indexes) ops.move(kept.At(ops, kept.size_++), At(ops, index));
  Release(ops);
  Swap(kept);
}

void ListBase::Release(const ItemOps& ops) noexcept {
  Clear(ops);
  ::operator delete(data_);
  data_ = nullptr;
  capacity_ = 0;
}

void ListBase::Assign(const ItemOps& ops, const void* items, size_t count) noexcept {
  Clear(ops);
  if (count == 0) return;
  Reserve(ops, count);
  ops.copy(data_, items, count);
  size_ = static_cast<uint32_t>(count);
}

void ListBase::Rotate(const ItemOps& ops, size_t first, size_t middle) noexcept {
  const size_t moved = size_ - middle;
  if (moved == 0 || first == middle) return;
  void* const aside = ::operator new(moved* ops.size);
  ops.relocate(aside, At(ops, middle), moved);
  ops.relocate(At(ops, first + moved), At(ops, first), middle - first);
  ops.relocate(At(ops, first), aside, moved);
  ::operator delete(aside);
}

void ListBase::CheckIndex(size_t index) const {
  if (index >= size_) throw std::out_of_range("cox::List::at");
}

bool ListBase::Equals(const ItemOps& ops, const ListBase& other) const noexcept {
  return size_ == other.size_ && (size_ == 0 || ops.equal(data_, other.data_, size_));
}

void ListBase::Reallocate(const ItemOps& ops, size_t capacity) {
  assert(capacity >= size_);
  if (capacity > UINT32_MAX) std::abort();  // handled like an allocation failure
  void* const to = ::operator new(capacity* ops.size);
  if (size_ != 0) ops.relocate(to, data_, size_);
  ::operator delete(data_);
  data_ = to;
  capacity_ = static_cast<uint32_t>(capacity);
}

}  // namespace cox
