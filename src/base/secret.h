// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

namespace cox {

// Stands in a log line for a value that must not be there: {"token", Redacted{}}.
struct Redacted {
  static constexpr std::string_view kText = "[REDACTED]";
};

// A value that never prints: a token, a password, a key. Logging one writes "[REDACTED]", streaming
// or formatting one does not compile. Taking it out is a word that a reviewer can search for:
// Reveal().
//
// Threads, ownership: as T.
template <class T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}

  const T& Reveal() const { return value_; }

  // Comparing secrets takes a time that depends on their content: compare what Reveal() gives, with
  // care.
  bool operator==(const Secret&) const = delete;

 private:
  T value_{};
};

}  // namespace cox
