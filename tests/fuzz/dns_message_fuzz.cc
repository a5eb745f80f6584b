// SPDX-License-Identifier: Apache-2.0
// DNS messages of clients and upstream servers. A parsed query can be encoded and parsed again; the
// offsets of a scan are within the message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dns/wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox::dns;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto query = ParseQuery(bytes)) {
    const std::string refusal = EncodeAnswer(*query, {.rcode = Rcode::kRefused}, 512);
    if (refusal.size() > 512) __builtin_trap();
    if (query->refused == Rcode::kOk) {
      const auto again = ParseQuery(EncodeQuery(*query, query->id));
      if (!again || again->name != query->name || again->question != query->question) {
        __builtin_trap();
      }
      if (EncodeName(query->name).empty()) __builtin_trap();
    }
  }
  if (const auto scanned = ScanAnswer(bytes)) {
    for (const size_t offset : scanned->ttl_offsets) {
      if (offset + 4 > size) __builtin_trap();
    }
  }
  return 0;
}
