// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "object/type/item_ops.h"

COX_BEGIN_ITEM_OPS
namespace cox {

// The part of a List that does not depend on the type of its items. The field tables access every
// List through it.
class ListBase {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return capacity_; }
  void* erased_data() const { return data_; }

  // In all functions, `ops` are the operations of the item type.
  void Clear(const ItemOps& ops) noexcept;
  void Reserve(const ItemOps& ops, size_t count) noexcept;
  void Resize(const ItemOps& ops, size_t count) noexcept;
  // Appends a default-constructed item.
  void* Append(const ItemOps& ops) noexcept;
  // Inserts an item before the one at `index`: a default-constructed one, or one that is moved from
  // `item`, which may be an item of this list.
  void* Insert(const ItemOps& ops, size_t index) noexcept;
  void* InsertMoved(const ItemOps& ops, size_t index, void* item) noexcept;
  void Erase(const ItemOps& ops, size_t index, size_t count) noexcept;
  // Keeps the items at these indexes, in this order, and erases the others.
  void Keep(const ItemOps& ops, std::span<const size_t> indexes) noexcept;

 protected:
  ListBase() = default;
  ListBase(const ItemOps& ops, const ListBase& other) noexcept;
  ListBase(const ListBase&) = delete;
  ListBase(ListBase&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ListBase& operator=(const ListBase&) = delete;
  ~ListBase() = default;

  void CopyFrom(const ItemOps& ops, const ListBase& other) noexcept;
  void MoveFrom(const ItemOps& ops, ListBase& other) noexcept;
  void Release(const ItemOps& ops) noexcept;
  void Assign(const ItemOps& ops, const void* items, size_t count) noexcept;
  // `item` may be an item of this list.
  void* InsertCopy(const ItemOps& ops, size_t index, const void* item) noexcept;
  // Exchanges the items from `first` to `middle` with those from `middle` to the end.
  void Rotate(const ItemOps& ops, size_t first, size_t middle) noexcept;
  bool Equals(const ItemOps& ops, const ListBase& other) const noexcept;
  void CheckIndex(size_t index) const;
  void Swap(ListBase& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  void* data_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;

 private:
  char* At(const ItemOps& ops, size_t index) const {
    return static_cast<char*>(data_) + index * ops.size;
  }
  // Inserts an item before the one at `index`. `place` copies or moves `item` into raw memory.
  using Place = void (*)(const ItemOps& ops, void* to, void* item);
  void* InsertPlaced(const ItemOps& ops, size_t index, Place place, void* item);
  void Reallocate(const ItemOps& ops, size_t capacity);
};

// The list type of API structs. It has the interface of std::vector, but its functions are calls of
// ListBase with the ItemOps of T, and both are compiled once in the program: a file that copies a
// Pod does not compile the copying of everything that a Pod can hold. See item_ops.h for a List of
// a type that is not an API struct.
//
// Guarantees: takes 16 bytes; iterators are invalidated as those of std::vector; an allocation
//   failure aborts the process.
// Ownership: owns its items; copying a List copies them.
// Threads: as std::vector.
template <class T>
class List : public ListBase {
 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  List() = default;
  List(std::initializer_list<T> items) { Assign(Items<T>::kOps, items.begin(), items.size()); }
  // Copies the items: `pod.spec.args = args` works for a std::vector as well.
  List(const std::vector<T>& items) {  // NOLINT: as documented
    Assign(Items<T>::kOps, items.data(), items.size());
  }
  explicit List(size_t count) { resize(count); }
  List(size_t count, const T& item) {
    reserve(count);
    while (size_ < count) push_back(item);
  }
  template <std::input_iterator I>
  List(I first, I last) {
    insert(end(), first, last);
  }
  List(const List& other) noexcept : ListBase(Items<T>::kOps, other) {}
  List(List&& other) noexcept : ListBase(std::move(other)) {}
  List& operator=(const List& other) noexcept {
    CopyFrom(Items<T>::kOps, other);
    return *this;
  }
  List& operator=(List&& other) noexcept {
    MoveFrom(Items<T>::kOps, other);
    return *this;
  }
  List& operator=(std::initializer_list<T> items) {
    Assign(Items<T>::kOps, items.begin(), items.size());
    return *this;
  }
  ~List() {
    if (data_ != nullptr) Release(Items<T>::kOps);
  }

  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

  T* data() { return static_cast<T*>(data_); }
  const T* data() const { return static_cast<const T*>(data_); }

  // REQUIRES: the item exists.
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  // Throws std::out_of_range if the item does not exist, as std::vector does.
  T& at(size_t i) { return CheckIndex(i), data()[i]; }
  const T& at(size_t i) const { return CheckIndex(i), data()[i]; }

  // The argument may be an item of this list.
  void push_back(const T& item) { InsertCopy(Items<T>::kOps, size_, &item); }
  void push_back(T&& item) { InsertMoved(Items<T>::kOps, size_, &item); }
  T& emplace_back() { return *static_cast<T*>(Append(Items<T>::kOps)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    T item(std::forward<Args>(args)...);
    return *static_cast<T*>(InsertMoved(Items<T>::kOps, size_, &item));
  }
  void pop_back() { Erase(Items<T>::kOps, size_ - 1, 1); }
  iterator insert(const_iterator at, const T& item) {
    return static_cast<T*>(InsertCopy(Items<T>::kOps, Index(at), &item));
  }
  iterator insert(const_iterator at, T&& item) {
    return static_cast<T*>(InsertMoved(Items<T>::kOps, Index(at), &item));
  }
  // The range must not contain items of this list.
  template <std::input_iterator I>
  iterator insert(const_iterator at, I first, I last) {
    const size_t index = Index(at);
    const size_t before = size_;
    if constexpr (std::forward_iterator<I>) {
      reserve(size_ + static_cast<size_t>(std::distance(first, last)));
    }
    for (; first != last; ++first) emplace_back(*first);
    if (index != before) Rotate(Items<T>::kOps, index, before);
    return begin() + index;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const size_t index = Index(first);
    Erase(Items<T>::kOps, index, static_cast<size_t>(last - first));
    return begin() + index;
  }
  void clear() { Clear(Items<T>::kOps); }
  void reserve(size_t count) { Reserve(Items<T>::kOps, count); }
  void resize(size_t count) { Resize(Items<T>::kOps, count); }
  template <std::input_iterator I>
  void assign(I first, I last) {
    List items(first, last);
    Swap(items);
  }
  void swap(List& other) noexcept { Swap(other); }

  bool operator==(const List& other) const { return Equals(Items<T>::kOps, other); }

 private:
  size_t Index(const_iterator at) const { return static_cast<size_t>(at - begin()); }
};

// Like std::erase_if and std::erase of a std::vector: return the number of removed items.
template <class T, class Condition>
size_t erase_if(List<T>& list, Condition condition) {
  auto kept = list.begin();
  for (T& item : list) {
    if (condition(std::as_const(item))) continue;
    if (kept != &item) *kept = std::move(item);
    ++kept;
  }
  const size_t erased = static_cast<size_t>(list.end() - kept);
  list.erase(kept, list.end());
  return erased;
}
template <class T, class U>
size_t erase(List<T>& list, const U& value) {
  return erase_if(list, [&value](const T& item) { return item == value; });
}

}  // namespace cox
COX_END_ITEM_OPS
