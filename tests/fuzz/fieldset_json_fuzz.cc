// SPDX-License-Identifier: Apache-2.0
// fieldsV1: writing a parsed set and parsing it again gives the same set and the same text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "object/apply/fields_v1.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox::apply;
  auto set = ReadFieldsV1(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!set.ok()) return 0;
  std::string text = WriteFieldsV1(*set);
  auto again = ReadFieldsV1(text);
  if (!again.ok() || WriteFieldsV1(*again) != text) std::abort();
  if (!(*again == *set)) std::abort();
  if (!set->Difference(*again).Empty() || !(set->Union(*again) == *set)) std::abort();
  auto by_value = FieldsV1FromValue(FieldsV1ToValue(*set));
  if (!by_value.ok() || !(*by_value == *set)) std::abort();
  return 0;
}
