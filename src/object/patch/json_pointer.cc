// SPDX-License-Identifier: Apache-2.0
#include "object/patch/json_pointer.h"

#include <charconv>

#include "base/strings.h"

namespace cox::patch {

std::string EscapePointerToken(std::string_view token) {
  std::string out;
  for (char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string UnescapePointerToken(std::string_view token) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    char next = token[i] == '~' && i + 1 < token.size() ? token[i + 1] : '\0';
    if (next == '0' || next == '1') {
      out += next == '0' ? '~' : '/';
      ++i;
    } else {
      out += token[i];
    }
  }
  return out;
}

std::optional<JsonPointer> JsonPointer::Parse(std::string_view text) {
  CutResult cut = Cut(text, '/');
  if (!cut.found) return std::nullopt;
  JsonPointer pointer;
  for (std::string_view token : Split(cut.after, '/')) {
    pointer.tokens_.push_back(UnescapePointerToken(token));
  }
  return pointer;
}

Value* JsonPointer::FindParent(Value& root) const {
  Value* at = &root;
  for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (at->is_object()) {
      at = at->as_object().Find(tokens_[i]);
    } else if (at->is_array()) {
      Value::Array& items = at->as_array();
      auto size = static_cast<int64_t>(items.size());
      std::optional<int64_t> index = ParseArrayIndex(tokens_[i]).value;
      if (!index || *index >= size || *index < -size) return nullptr;
      at = &items[static_cast<size_t>(*index < 0 ? *index + size : *index)];
    }
    if (at == nullptr || (!at->is_object() && !at->is_array())) return nullptr;
  }
  return at;
}

std::string JsonPointer::ToString() const {
  std::string out;
  for (const std::string& token : tokens_) out += "/" + EscapePointerToken(token);
  return out;
}

ArrayIndex ParseArrayIndex(std::string_view token) {
  std::string_view digits = token;
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return {};  // from_chars would accept the second sign
  }
  int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return {};
  if (error == std::errc::result_out_of_range) return {.value = {}, .out_of_range = true};
  return {.value = value};
}

}  // namespace cox::patch
