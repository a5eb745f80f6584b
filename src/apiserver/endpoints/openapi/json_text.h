// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/codec/json/json.h"

namespace cox::apiserver::openapi {

// Writes JSON straight into a string. The documents of OpenAPI are megabytes of small objects that
// nobody looks at again: building Values for them would cost several times their text.
//
// Puts commas where they belong; closing what was opened is for the caller.
class JsonText {
 public:
  explicit JsonText(std::string* out) : out_(*out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { out_.push_back('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { out_.push_back(']'); }

  // Of a member, whose value must follow.
  void Key(std::string_view key) {
    Comma();
    json::WriteString(key, &out_);
    out_.push_back(':');
  }
  void String(std::string_view value) {
    Comma();
    json::WriteString(value, &out_);
  }
  // JSON as it is.
  void Raw(std::string_view json) {
    Comma();
    out_.append(json);
  }

  void Member(std::string_view key, std::string_view value) {
    Key(key);
    json::WriteString(value, &out_);
  }
  void RawMember(std::string_view key, std::string_view json) {
    Key(key);
    out_.append(json);
  }

 private:
  void Open(char c) {
    Comma();
    out_.push_back(c);
  }
  // A value follows another one unless something was just opened or named. Strings end in a quote,
  // so the last character cannot mislead.
  void Comma() {
    if (out_.empty()) return;
    const char last = out_.back();
    if (last != '{' && last != '[' && last != ':') out_.push_back(',');
  }

  std::string& out_;
};

}  // namespace cox::apiserver::openapi
