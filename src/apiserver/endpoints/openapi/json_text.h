// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/codec/json/json.h"

namespace cox::apiserver::openapi {

// Writes JSON directly into a string. OpenAPI documents are megabytes of small objects that are
// written once and not read again, so building Values first would take several times the memory.
//
// Inserts commas. The caller must close every object and array that it opens.
class JsonText {
 public:
  explicit JsonText(std::string* out) : out_(*out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { out_.push_back('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { out_.push_back(']'); }

  // Writes a member name. The caller must write its value next.
  void Key(std::string_view key) {
    Comma();
    json::WriteString(key, &out_);
    out_.push_back(':');
  }
  void String(std::string_view value) {
    Comma();
    json::WriteString(value, &out_);
  }
  // Appends JSON unchanged.
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
  // A comma is needed unless the last character opened an object or array or ended a key. Strings
  // end in a quote, so the last character is unambiguous.
  void Comma() {
    if (out_.empty()) return;
    const char last = out_.back();
    if (last != '{' && last != '[' && last != ':') out_.push_back(',');
  }

  std::string& out_;
};

}  // namespace cox::apiserver::openapi
