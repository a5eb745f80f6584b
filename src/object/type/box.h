// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "object/type/item_ops.h"

COX_BEGIN_ITEM_OPS
namespace cox {

// The part of a Box that does not depend on its type. The field tables access every Box through it.
// An allocation failure aborts the process.
class BoxBase {
 public:
  void* erased() const { return pointer_; }
  // Replaces the object by a default-constructed one.
  void* Emplace(const ItemOps& ops) noexcept;
  void Reset(const ItemOps& ops) noexcept;

 protected:
  BoxBase() = default;
  BoxBase(const ItemOps& ops, const BoxBase& other) noexcept;
  BoxBase(const BoxBase&) = delete;
  BoxBase(BoxBase&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  BoxBase& operator=(const BoxBase&) = delete;
  ~BoxBase() = default;

  void MoveValue(const ItemOps& ops, void* value) noexcept;
  void CopyFrom(const ItemOps& ops, const BoxBase& other) noexcept;
  void MoveFrom(const ItemOps& ops, BoxBase& other) noexcept;
  bool Equals(const ItemOps& ops, const BoxBase& other) const noexcept;

  void* pointer_ = nullptr;
};

// An optional struct on the heap: Go's `*T` with value semantics.
//
// API structs have dozens of optional parts, few of which are set; an empty Box costs one pointer,
// while std::optional needs the space of the whole part. Box also permits recursive types. Copying
// and destroying are compiled once in the program, as for List.
//
// Ownership: owns its T; copying a Box copies the T.
// Threads: as T.
template <class T>
class Box : public BoxBase {
 public:
  Box() = default;
  Box(std::nullptr_t) {}                               // NOLINT: as std::optional
  Box(T value) { MoveValue(Items<T>::kOps, &value); }  // NOLINT
  Box(const Box& other) noexcept : BoxBase(Items<T>::kOps, other) {}
  Box(Box&& other) noexcept : BoxBase(std::move(other)) {}
  Box& operator=(const Box& other) noexcept {
    CopyFrom(Items<T>::kOps, other);
    return *this;
  }
  Box& operator=(Box&& other) noexcept {
    MoveFrom(Items<T>::kOps, other);
    return *this;
  }
  ~Box() {
    if (pointer_ != nullptr) Reset(Items<T>::kOps);
  }

  bool has_value() const { return pointer_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T* get() { return static_cast<T*>(pointer_); }
  const T* get() const { return static_cast<const T*>(pointer_); }

  // REQUIRES: has_value() for the next four.
  T& operator*() { return *get(); }
  const T& operator*() const { return *get(); }
  T* operator->() { return get(); }
  const T* operator->() const { return get(); }

  // Replaces the object by a default-constructed T.
  T& emplace() { return *static_cast<T*>(Emplace(Items<T>::kOps)); }
  // Returns the T, default-constructed first if there is none.
  T& ensure() { return has_value() ? *get() : emplace(); }
  void reset() { Reset(Items<T>::kOps); }

  bool operator==(const Box& other) const { return Equals(Items<T>::kOps, other); }
};

}  // namespace cox
COX_END_ITEM_OPS
