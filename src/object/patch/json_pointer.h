// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/type/value.h"

// JSON Pointer (RFC 6901): "/spec/containers/0/image".
namespace cox::patch {

// One part of a pointer with "~1" for "/" and "~0" for "~", and back. Other uses of "~" stay as
// they are: the API server accepts them.
std::string EscapePointerToken(std::string_view token);
std::string UnescapePointerToken(std::string_view token);

// A parsed pointer.
//
// Guarantees: as lenient as the API server, which drops whatever stands before the first slash:
//   "data/x" is "/x". Text without any slash, also the empty text, points nowhere (Parse gives
//   none): what it means is up to the operation.
class JsonPointer {
 public:
  static std::optional<JsonPointer> Parse(std::string_view text);

  // The parts, unescaped; at least one.
  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::string& last() const { return tokens_.back(); }

  // The array or object that holds what is pointed at; null when the way there leads through
  // something absent, null or scalar. Array indices as ArrayIndex reads them.
  Value* FindParent(Value& root) const;

  // "/a~1b/0", in the escaped form.
  std::string ToString() const;

 private:
  std::vector<std::string> tokens_;
};

// A number as Go's strconv.Atoi reads it ("7", "+7", "-1", "007"); none if it is no such number.
struct ArrayIndex {
  std::optional<int64_t> value;
  bool out_of_range = false;  // digits, but too large
};
ArrayIndex ParseArrayIndex(std::string_view token);

}  // namespace cox::patch
