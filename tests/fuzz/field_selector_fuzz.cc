// SPDX-License-Identifier: Apache-2.0
// A parsed field selector can be written and parsed again; escaping is reversible.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "object/selector/fields.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (cox::fields::UnescapeValue(cox::fields::EscapeValue(text)).value() != text) std::abort();

  const cox::Result<cox::fields::Selector> selector = cox::fields::Selector::Parse(text);
  if (!selector.ok()) {
    if (selector.status().message().empty()) std::abort();
    return 0;
  }
  const std::string written = selector->ToString();
  const cox::Result<cox::fields::Selector> again = cox::fields::Selector::Parse(written);
  if (!again.ok()) std::abort();
  // "a==b" is written "a=b", which can only change the order of terms.
  if (!std::is_permutation(again->requirements().begin(), again->requirements().end(),
                           selector->requirements().begin(), selector->requirements().end())) {
    std::abort();
  }
  if (cox::fields::Selector::Parse(again->ToString())->ToString() != again->ToString())
    std::abort();
  return 0;
}
