// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/type/value.h"

// JSON Pointer (RFC 6901): "/spec/containers/0/image".
namespace cox::patch {

// Escapes one token with "~1" for "/" and "~0" for "~", and the reverse. Other uses of "~" are not
// changed, because the API server accepts them.
std::string EscapePointerToken(std::string_view token);
std::string UnescapePointerToken(std::string_view token);

// A parsed pointer.
//
// Guarantees: as lenient as the API server, which ignores text before the first slash: "data/x" is
//   "/x". For text without a slash, including the empty text, Parse returns nullopt; its meaning
//   depends on the operation.
class JsonPointer {
 public:
  static std::optional<JsonPointer> Parse(std::string_view text);

  // The unescaped tokens; at least one.
  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::string& last() const { return tokens_.back(); }

  // The array or object that contains the target; null if the path leads through an absent, null or
  // scalar value. Array indices are parsed by ParseArrayIndex.
  Value* FindParent(Value& root) const;

  // "/a~1b/0", escaped.
  std::string ToString() const;

 private:
  std::vector<std::string> tokens_;
};

// A number in the format of Go's strconv.Atoi ("7", "+7", "-1", "007"); nullopt if it is not a
// number.
struct ArrayIndex {
  std::optional<int64_t> value;
  bool out_of_range = false;  // a number, but too large
};
ArrayIndex ParseArrayIndex(std::string_view token);

}  // namespace cox::patch
