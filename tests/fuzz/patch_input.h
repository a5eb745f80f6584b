// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "object/codec/json/json.h"
#include "object/type/value.h"

// Shared by the patch fuzzers: the input is a document, a zero byte, and a patch.
namespace cox::fuzz {

struct PatchInput {
  Value document;
  std::string_view patch;
};

// Returns nullopt if the document is not JSON. The result refers to `data`.
inline std::optional<PatchInput> ReadPatchInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t zero = text.find('\0');
  if (zero == std::string_view::npos) return std::nullopt;
  Result<Value> document = json::Parse(text.substr(0, zero));
  if (!document.ok()) return std::nullopt;
  return PatchInput{.document = std::move(*document), .patch = text.substr(zero + 1)};
}

// Aborts with a message if a property does not hold.
inline void Require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "property does not hold: %s\n", property);
  std::abort();
}

}  // namespace cox::fuzz
