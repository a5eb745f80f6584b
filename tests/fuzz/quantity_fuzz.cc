// SPDX-License-Identifier: Apache-2.0
// Whatever parses as a Quantity can be written and read back, and arithmetic on it is exact.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "object/scalar/quantity.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The first byte says where to cut the rest into two quantities.
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t cut = data[0] % (text.size() + 1);
  const cox::Result<cox::Quantity> a = cox::Quantity::Parse(text.substr(0, cut));
  const cox::Result<cox::Quantity> b = cox::Quantity::Parse(text.substr(cut));

  for (const auto* q : {&a, &b}) {
    if (!q->ok()) continue;
    const std::string written = (*q)->ToString();
    const cox::Result<cox::Quantity> again = cox::Quantity::Parse(written);
    Check(again.ok() && *again == **q && again->ToString() == written);
    // Canonical, without the spelling of the input: a fixed point too.
    cox::Quantity canonical = **q;
    canonical.Neg();
    canonical.Neg();
    Check(canonical == **q);
    Check(cox::Quantity::Parse(canonical.ToString())->ToString() == canonical.ToString());
    cox::Quantity up = **q;
    up.RoundUp(0);
    Check((*q)->Sign() >= 0 ? up >= **q : up <= **q);
    Check(up.Value() == (*q)->Value());
  }
  if (!a.ok() || !b.ok()) return 0;

  Check(a->Cmp(*b) == -b->Cmp(*a));
  cox::Quantity ab = *a, ba = *b;
  ab.Add(*b);
  ba.Add(*a);
  Check(ab == ba);
  const cox::Result<cox::Quantity> sum = cox::Quantity::Parse(ab.ToString());
  Check(sum.ok() && *sum == ab);
  return 0;
}
