// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "apiserver/request/request_info.h"
#include "base/clock.h"

namespace cox::apiserver {

// The cost of a request, in seats of its level.
struct Work {
  int seats = 1;  // during execution
  // Seats that are held afterwards, because a write is answered before its watchers are notified.
  int final_seats = 0;
  Clock::Duration after{};

  int MaxSeats() const { return std::max(seats, final_seats); }
};

// The inputs of an estimate besides the request.
struct WorkFacts {
  bool known = false;        // for lists: whether the next two are known
  int64_t objects = 0;       // under the listed path
  int64_t object_bytes = 0;  // mean stored size of an object
  int64_t watchers = 0;      // for writes: number of watches to notify
  int max_seats = 1;         // the level's limit for a single request
};

// The maximum for any request, regardless of its level.
inline constexpr int kMaxListSeats = 100;

// Whether the object facts matter: for a list, or a watch with initial events.
bool IsListLike(const RequestInfo& info, const Query& query);
// Whether the number of watchers matters.
bool NotifiesWatchers(const RequestInfo& info);

// Lists cost by the bytes they read, writes by the watchers they notify; other requests take one
// seat.
Work EstimateWork(const RequestInfo& info, const Query& query, const WorkFacts& facts);

}  // namespace cox::apiserver
