// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace cox::scheduler {

// What plugins keep for themselves from one point of a cycle to the next, a slot each.
//
// Of Pods that are remembered by signature it serves many cycles: what is in it is written by
// PreFilter and PreScore only.
class CycleState {
 public:
  struct Data {
    virtual ~Data() = default;
  };

  void Put(size_t slot, std::unique_ptr<Data> data) {
    if (slot >= slots_.size()) slots_.resize(slot + 1);
    slots_[slot] = std::move(data);
  }
  // Null if there is none. REQUIRES: T is what was put there.
  template <class T>
  const T* Get(size_t slot) const {
    return slot < slots_.size() ? static_cast<const T*>(slots_[slot].get()) : nullptr;
  }
  void Clear() { slots_.clear(); }

 private:
  std::vector<std::unique_ptr<Data>> slots_;
};

}  // namespace cox::scheduler
