// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

namespace cox {

// Replaces a value that must not appear in a log line: {"token", Redacted{}}.
struct Redacted {
  static constexpr std::string_view kText = "[REDACTED]";
};

// A value that is never printed: a token, a password, a key. Logging it writes "[REDACTED]",
// streaming or formatting it does not compile. Only Reveal() returns the value, which makes uses
// easy to find in reviews.
//
// Threads, ownership: same as T.
template <class T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}

  const T& Reveal() const { return value_; }

  // Deleted, because the comparison time depends on the content: compare the results of Reveal()
  // with care.
  bool operator==(const Secret&) const = delete;

 private:
  T value_{};
};

}  // namespace cox
