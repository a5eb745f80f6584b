// SPDX-License-Identifier: Apache-2.0
// A parsed Quantity can be written and parsed again, and its arithmetic is exact.
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
  // The first byte selects where the rest is split into two quantities.
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t cut = data[0] % (text.size() + 1);
  const cox::Result<cox::Quantity> a = cox::Quantity::Parse(text.substr(0, cut));
  const cox::Result<cox::Quantity> b = cox::Quantity::Parse(text.substr(cut));

  for (const auto* q : {&a, &b}) {
    if (!q->ok()) continue;
    const std::string written = (*q)->ToString();
    const cox::Result<cox::Quantity> again = cox::Quantity::Parse(written);
    Check(again.ok() && *again == **q);
    // A binary number that fits no binary unit ("62.5Ki") is written without one ("64000"), which
    // parses as a decimal number ("64k"), as in upstream. All others are fixed points immediately,
    // and that one after it is parsed once.
    Check(again->ToString() == written || (*q)->format() == cox::Quantity::Format::kBinarySI);
    Check(cox::Quantity::Parse(again->ToString())->ToString() == again->ToString());
    // The same without the cached text of the input.
    cox::Quantity canonical = **q;
    canonical.Neg();
    canonical.Neg();
    Check(canonical == **q);
    const std::string settled = cox::Quantity::Parse(canonical.ToString())->ToString();
    Check(settled == canonical.ToString() ||
          canonical.format() == cox::Quantity::Format::kBinarySI);
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
