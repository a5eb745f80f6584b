// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as JSON: untyped, and as the kind that they name. The result is written and
// parsed again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "object/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox;
  std::string_view text(reinterpret_cast<const char*>(data), size);

  json::Strictness strict;
  Result<Value> value = json::Parse(text, &strict);
  if (value.ok()) {
    std::string written = json::Write(*value);
    Result<Value> again = json::Parse(written);
    if (!again.ok() || json::Write(*again) != written) std::abort();
  }

  Result<Object> object = DecodeObject(text, Format::kJson, Scheme::Builtin(), nullptr, &strict);
  if (object.ok()) {
    if (!value.ok()) std::abort();  // typed decoding accepts only valid JSON
    std::string written;
    EncodeObject(*object, Format::kJson, &written);
    Result<Object> again = DecodeObject(written, Format::kJson, Scheme::Builtin());
    if (!again.ok()) std::abort();
    std::string twice;
    EncodeObject(*again, Format::kJson, &twice);
    if (twice != written) std::abort();
    // Conversion through Value gives the same object.
    Object other = *object;
    if (!other.FromValue(object->ToValue()).ok()) std::abort();
    std::string bytes;
    EncodeObject(*object, Format::kProtobuf, &bytes);
    if (!DecodeObject(bytes, Format::kProtobuf, Scheme::Builtin()).ok()) std::abort();
  }
  return 0;
}
