// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cox::apiserver {

// Deals `hand.size()` different cards from a deck of `deck` (0 .. deck-1), determined by `hash`.
//
// Shuffle sharding: each flow has a hand of a few queues out of many. Two flows rarely have the
// same hand, so a flow that fills all its queues usually leaves other flows at least one empty
// queue.
//
// Guarantees: Equal hashes give equal hands; if the hash is uniform, so are the hands.
// REQUIRES: 0 < hand.size() <= deck, and the number of hands is far below 2^64 (the API allows at
//   most 60 bits).
void DealHand(uint64_t hash, int deck, std::span<int> hand);

// The hash of a flow: of the schema and the distinguisher. `seed` differs between servers, so that
// clients cannot choose names that collide with the queues of other flows.
uint64_t FlowHash(uint64_t seed, std::string_view schema, std::string_view distinguisher);

}  // namespace cox::apiserver
