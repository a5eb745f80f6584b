// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "object/codec/json/reader.h"
#include "object/type/value.h"

namespace cox::json {

// Reads a Value with the interface of Reader, so that one decoder supports both.
//
// Ownership: borrows the Value, which must outlive it.
class ValueSource {
 public:
  explicit ValueSource(const Value& root) : at_(&root) {}

  Token Peek();
  bool TakeNull() { return true; }
  bool TakeBool(bool* value);
  bool TakeNumber(Number* number);
  bool TakeString(std::string* value);
  bool TakeRaw(std::string* text);
  bool Skip() { return true; }

  bool BeginArray();
  bool NextItem(bool* more);
  bool BeginObject();
  bool NextKey(std::string_view* key, bool* more);

  bool End() { return status_.ok(); }
  const Status& status() const { return status_; }
  bool Fail(std::string message);

 private:
  struct Open {
    const Value* container;
    size_t next = 0;
  };

  const Value* at_;  // the value to be read next
  std::vector<Open> open_;
  std::string number_text_;
  Status status_;
};

}  // namespace cox::json
