// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <sys/random.h>

#include <cerrno>

#include "base/check.h"

namespace cox {

void FillRandom(std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = getrandom(bytes.data(), bytes.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    COX_CHECK(n > 0);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

uint64_t RandomBelow(uint64_t bound) {
  uint64_t number = 0;
  FillRandom({reinterpret_cast<uint8_t*>(&number), sizeof(number)});
  return number % bound;
}

double RandomFraction() {
  constexpr uint64_t kSteps = uint64_t{1} << 53;  // the precision of a double
  return static_cast<double>(RandomBelow(kSteps)) / static_cast<double>(kSteps);
}

}  // namespace cox
