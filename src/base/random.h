// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// Random numbers of the kernel: for names and keys, and for delays that differ between instances.
// Code whose tests need to know the numbers takes a function instead.
namespace cox {

void FillRandom(std::span<uint8_t> bytes);
// A number below `bound`. REQUIRES: bound > 0
uint64_t RandomBelow(uint64_t bound);
// A number from 0 to 1, without 1.
double RandomFraction();

}  // namespace cox
