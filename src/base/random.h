// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// The kernel's random numbers: for names and keys, and for jitter between instances. Code whose
// tests need deterministic numbers takes a function instead.
namespace cox {

void FillRandom(std::span<uint8_t> bytes);
// A number below `bound`. REQUIRES: bound > 0
uint64_t RandomBelow(uint64_t bound);
// A number in [0, 1).
double RandomFraction();

}  // namespace cox
