// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cox {

// Shared immutable bytes: a stored value, an encoded object, a piece of a response.
//
// Guarantees: the bytes neither move nor change while a Bytes refers to them. Copies and slices
//   share them and cost one reference count.
// Threads: distinct Bytes that share memory may be used from any thread.
class Bytes {
 public:
  Bytes() = default;
  // Takes ownership of the text without a copy.
  explicit Bytes(std::string text) {
    auto owner = std::make_shared<const std::string>(std::move(text));
    view_ = *owner;
    owner_ = std::move(owner);
  }
  // For constants that live as long as the program.
  static Bytes Static(std::string_view text) { return Bytes(nullptr, text); }
  // One allocation of the exact size, for long-lived data.
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

  // REQUIRES: offset <= size(). `count` is limited to the end.
  Bytes Slice(size_t offset, size_t count = std::string_view::npos) const {
    return Bytes(owner_, view_.substr(offset, count));
  }

  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view_ == b.view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace cox
