// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as YAML: a parsed value can be written and parsed again, and strict parsing
// gives the same value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "object/codec/yaml/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  cox::Result<cox::Value> value = cox::yaml::Parse(text);
  cox::json::Strictness strict;
  cox::Result<cox::Value> strictly = cox::yaml::Parse(text, &strict);
  if (strictly.ok() != value.ok() && strict.errors.empty()) std::abort();
  (void)cox::yaml::ParseAll(text);
  if (!value.ok()) return 0;
  if (strictly.ok() && !(*strictly == *value)) std::abort();
  cox::Result<cox::Value> again = cox::yaml::Parse(cox::yaml::Write(*value));
  if (!again.ok() || !(*again == *value)) std::abort();
  return 0;
}
