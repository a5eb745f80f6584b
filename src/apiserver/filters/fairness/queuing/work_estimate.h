// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "apiserver/request/request_info.h"
#include "base/clock.h"

namespace cox::apiserver {

// How much of the server a request needs, in seats: as many of a level's seats as this it occupies.
struct Work {
  int seats = 1;  // while it is worked on
  // Then these for a while longer: a write has been answered before its watchers were told.
  int final_seats = 0;
  Clock::Duration after{};

  int MaxSeats() const { return std::max(seats, final_seats); }
};

// What an estimate is made from besides the request.
struct WorkFacts {
  bool known = false;        // of lists: whether the two that follow are
  int64_t objects = 0;       // under the path that is listed
  int64_t object_bytes = 0;  // what one is stored as, in the mean
  int64_t watchers = 0;      // of writes: who is told
  int max_seats = 1;         // what the level gives to a single request
};

// More than this no request gets, whatever its level has.
inline constexpr int kMaxListSeats = 100;

// Whether the facts about objects matter: a list, or a watch that begins with one.
bool ReadsMany(const RequestInfo& info, const Query& query);
// Whether the watchers matter.
bool TellsWatchers(const RequestInfo& info);

// Lists by the bytes they read, writes by the watchers they wake; all else is one seat.
Work EstimateWork(const RequestInfo& info, const Query& query, const WorkFacts& facts);

}  // namespace cox::apiserver
