// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace cox {

namespace internal {

// The bytes that follow the object and its reference counts in one allocation.
struct Tail {
  size_t size;
  char* at = nullptr;  // set by allocate(), before the object is constructed
};

template <class T>
struct TailAllocator {
  using value_type = T;

  explicit TailAllocator(Tail& tail) : tail(&tail) {}
  template <class U>
  TailAllocator(const TailAllocator<U>& other) : tail(other.tail) {}  // NOLINT: allocators rebind

  T* allocate(size_t count) {
    char* memory = static_cast<char*>(::operator new(count * sizeof(T) + tail->size));
    tail->at = memory + count * sizeof(T);
    return reinterpret_cast<T*>(memory);
  }
  // Called by the last reference with a copy of the allocator; `tail` is dangling then.
  void deallocate(T* memory, size_t) { ::operator delete(static_cast<void*>(memory)); }

  template <class U>
  bool operator==(const TailAllocator<U>&) const {
    return true;
  }

  Tail* tail;
};

}  // namespace internal

// Creates an object with data of variable size in one allocation: `size` uninitialized bytes follow
// the object. Its constructor receives a pointer to them as the first argument.
template <class T, class... Args>
std::shared_ptr<T> MakeSharedWithTail(size_t size, Args&&... args) {
  internal::Tail tail{size};
  char* const& at = tail.at;  // read when the constructor is called, after the allocation
  return std::allocate_shared<T>(internal::TailAllocator<T>(tail), at, std::forward<Args>(args)...);
}

}  // namespace cox
