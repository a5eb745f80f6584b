// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cox::controllers {

// Completion indexes 0 .. size-1 of a Job in the format of the status: "1,3-5,7".
//
// Ranges of three or more are written with a hyphen. A value type.
class IndexSet {
 public:
  explicit IndexSet(int32_t size = 0) : has_(static_cast<size_t>(size < 0 ? 0 : size)) {}
  // Ignores numbers beyond `size`, because completions may have been reduced, and invalid numbers.
  static IndexSet Parse(std::string_view text, int32_t size);
  std::string ToString() const;

  bool Has(int32_t index) const {
    return index >= 0 && static_cast<size_t>(index) < has_.size() &&
           has_[static_cast<size_t>(index)];
  }
  // Returns true if the index is within the size and was not in the set.
  bool Add(int32_t index);
  int32_t count() const { return count_; }
  int32_t size() const { return static_cast<int32_t>(has_.size()); }
  // Returns the size of the intersection.
  int32_t CountIn(const IndexSet& other) const;

 private:
  std::vector<bool> has_;
  int32_t count_ = 0;
};

}  // namespace cox::controllers
