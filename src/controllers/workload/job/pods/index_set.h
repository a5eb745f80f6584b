// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cox::controllers {

// Completion indexes 0 .. size-1 of a Job, as statuses write them: "1,3-5,7".
//
// Ranges of three or more have a hyphen. A value.
class IndexSet {
 public:
  explicit IndexSet(int32_t size = 0) : has_(static_cast<size_t>(size < 0 ? 0 : size)) {}
  // What is beyond `size`, or is no number, is left out: a Job may have become smaller.
  static IndexSet Parse(std::string_view text, int32_t size);
  std::string ToString() const;

  bool Has(int32_t index) const {
    return index >= 0 && static_cast<size_t>(index) < has_.size() &&
           has_[static_cast<size_t>(index)];
  }
  // True if it was not there, and is within the size.
  bool Add(int32_t index);
  int32_t count() const { return count_; }
  int32_t size() const { return static_cast<int32_t>(has_.size()); }
  // How many are in both.
  int32_t CountIn(const IndexSet& other) const;

 private:
  std::vector<bool> has_;
  int32_t count_ = 0;
};

}  // namespace cox::controllers
