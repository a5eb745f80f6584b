// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/queuing/shuffle_shard.h"

namespace cox::apiserver {
namespace {

// The finalizer of splitmix64: every input bit affects every output bit.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

uint64_t Add(uint64_t state, std::string_view text) {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  // Includes the length, so that "a"+"bc" differs from "ab"+"c".
  return Mix(state + text.size());
}

}  // namespace

void DealHand(uint64_t hash, int deck, std::span<int> hand) {
  // A number in a mixed base: each digit selects one of the remaining cards.
  for (size_t i = 0; i < hand.size(); ++i) {
    const uint64_t left = static_cast<uint64_t>(deck) - i;
    hand[i] = static_cast<int>(hash % left);
    hash /= left;
  }
  // From the last digit back, so that earlier entries are still digits: cards drawn earlier shift
  // the numbering of the later ones.
  for (size_t i = hand.size(); i-- > 0;) {
    int card = hand[i];
    for (size_t j = i; j-- > 0;) {
      if (card >= hand[j]) ++card;
    }
    hand[i] = card;
  }
}

uint64_t FlowHash(uint64_t seed, std::string_view schema, std::string_view distinguisher) {
  return Add(Add(Mix(seed ^ 0xcbf29ce484222325ULL), schema), distinguisher);
}

}  // namespace cox::apiserver
