// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as protobuf. Encoding is a fixed point after the first decoding.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "object/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Result<Object> object = DecodeObject(bytes, Format::kProtobuf, Scheme::Builtin());
  if (!object.ok()) return 0;
  std::string once;
  EncodeObject(*object, Format::kProtobuf, &once);
  Result<Object> again = DecodeObject(once, Format::kProtobuf, Scheme::Builtin());
  if (!again.ok()) std::abort();
  std::string twice;
  EncodeObject(*again, Format::kProtobuf, &twice);
  if (twice != once) std::abort();
  std::string text;
  EncodeObject(*object, Format::kJson, &text);
  if (!json::Parse(text).ok()) std::abort();  // the JSON output is always valid
  return 0;
}
