// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cox {

// Bytes that many hold and nobody changes: a stored value, an encoded object, a piece of a
// response.
//
// Guarantees: the bytes neither move nor change as long as one Bytes refers to them. Copies and
//   slices share them and cost one reference count.
// Threads: distinct Bytes of the same memory may be used from any thread.
class Bytes {
 public:
  Bytes() = default;
  // Takes the text over; no copy.
  explicit Bytes(std::string text) {
    auto owner = std::make_shared<const std::string>(std::move(text));
    view_ = *owner;
    owner_ = std::move(owner);
  }
  // Of constants that live as long as the program.
  static Bytes Static(std::string_view text) { return Bytes(nullptr, text); }
  // One allocation of just the size, for what is kept long.
  static Bytes Copy(std::string_view text) {
    if (text.empty()) return {};
    std::shared_ptr<char[]> owner = std::make_shared_for_overwrite<char[]>(text.size());
    std::memcpy(owner.get(), text.data(), text.size());
    const std::string_view view(owner.get(), text.size());
    return Bytes(std::move(owner), view);
  }
  // A view of memory that `owner` keeps alive.
  Bytes(std::shared_ptr<const void> owner, std::string_view view)
      : owner_(std::move(owner)), view_(view) {}

  std::string_view view() const { return view_; }
  const char* data() const { return view_.data(); }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }

  // REQUIRES: offset <= size(). A `count` beyond the end is cut.
  Bytes Slice(size_t offset, size_t count = std::string_view::npos) const {
    return Bytes(owner_, view_.substr(offset, count));
  }

  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view_ == b.view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace cox
