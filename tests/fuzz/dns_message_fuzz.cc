// SPDX-License-Identifier: Apache-2.0
// What a peer may send to port 53, and what an upstream may answer. A query that was read can be
// written and read again; offsets that a scan gives are inside of the message.
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
