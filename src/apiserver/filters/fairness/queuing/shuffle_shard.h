// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cox::apiserver {

// Deals `hand.size()` different cards out of a deck of `deck` (0 .. deck-1), by `hash` alone.
//
// Shuffle sharding: each flow has a hand of a few queues out of many. Two flows rarely have the
// same hand, so one that fills all queues of its own leaves others at least one that is empty.
//
// Guarantees: equal hashes give equal hands; if the hash is uniform, so are the hands.
// REQUIRES: 0 < hand.size() <= deck, and the number of hands is far below 2^64 (the API allows no
//   more than 60 bits of it).
void DealHand(uint64_t hash, int deck, std::span<int> hand);

// The hash of a flow: of the schema and of who or what is told apart within it. `seed` differs from
// server to server, so that nobody can choose a name to meet somebody else's queues.
uint64_t FlowHash(uint64_t seed, std::string_view schema, std::string_view distinguisher);

}  // namespace cox::apiserver
