// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <utility>

namespace cox {

// The part of Box that does not depend on what it holds: tables of fields reach any Box through it.
class BoxBase {
 public:
  void* get_erased() const { return pointer_; }
  void set_erased(void* pointer) { pointer_ = pointer; }

 protected:
  BoxBase() = default;
  explicit BoxBase(void* pointer) : pointer_(pointer) {}
  ~BoxBase() = default;
  void* pointer_ = nullptr;
};

// An optional struct that is kept on the heap: Go's `*T` with value semantics.
//
// API structs hold dozens of optional parts of which a few are set; a Box costs one pointer where
// std::optional would cost the whole part. It also makes recursive types possible.
// Ownership: owns its T; copying copies the T. Threads: as T.
// Plain new and delete: a unique_ptr inside would be instantiated for a thousand structs.
template <class T>
class Box : public BoxBase {
 public:
  Box() = default;
  Box(std::nullptr_t) {}                              // NOLINT: as std::optional
  Box(T value) : BoxBase(new T(std::move(value))) {}  // NOLINT
  Box(const Box& other) : BoxBase(other ? new T(*other) : nullptr) {}
  Box(Box&& other) noexcept : BoxBase(std::exchange(other.pointer_, nullptr)) {}
  Box& operator=(Box other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Box() { delete get(); }

  bool has_value() const { return pointer_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T* get() { return static_cast<T*>(pointer_); }
  const T* get() const { return static_cast<const T*>(pointer_); }

  // REQUIRES: has_value() for the next four.
  T& operator*() { return *get(); }
  const T& operator*() const { return *get(); }
  T* operator->() { return get(); }
  const T* operator->() const { return get(); }

  // Makes a default T in place of what was there.
  T& emplace() {
    *this = Box(T{});
    return *get();
  }
  // The T, made first where there was none.
  T& ensure() { return has_value() ? *get() : emplace(); }
  void reset() { *this = Box(); }
};

}  // namespace cox
