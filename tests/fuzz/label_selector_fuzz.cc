// SPDX-License-Identifier: Apache-2.0
// A parsed label selector can be written and parsed again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "object/selector/labels.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const cox::Result<cox::labels::Selector> selector = cox::labels::Selector::Parse(text);
  if (!selector.ok()) {
    if (selector.status().message().empty()) std::abort();
    return 0;
  }
  const std::string written = selector->ToString();
  const cox::Result<cox::labels::Selector> again = cox::labels::Selector::Parse(written);
  if (!again.ok() || *again != *selector || again->ToString() != written) std::abort();

  // Labels with the first value of every requirement.
  std::map<std::string, std::string> labels;
  for (const auto& r : selector->requirements()) {
    labels.emplace(r.key(), r.values().empty() ? "" : r.values().front());
  }
  if (selector->Matches(labels) != again->Matches(labels)) std::abort();
  return 0;
}
