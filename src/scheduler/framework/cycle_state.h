// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace cox::scheduler {

// State that plugins pass between extension points of a cycle, one slot per plugin.
//
// It may be shared by all Pods with one signature over many cycles. Only PreFilter and PreScore
// write it.
class CycleState {
 public:
  struct Data {
    virtual ~Data() = default;
  };

  void Put(size_t slot, std::unique_ptr<Data> data) {
    if (slot >= slots_.size()) slots_.resize(slot + 1);
    slots_[slot] = std::move(data);
  }
  // Returns null if the slot is empty. REQUIRES: the slot contains a T.
  template <class T>
  const T* Get(size_t slot) const {
    return slot < slots_.size() ? static_cast<const T*>(slots_[slot].get()) : nullptr;
  }
  void Clear() { slots_.clear(); }

 private:
  std::vector<std::unique_ptr<Data>> slots_;
};

}  // namespace cox::scheduler
