// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/queuing/work_estimate.h"

#include <chrono>

namespace cox::apiserver {
namespace {

// The amount of list data per seat.
constexpr int64_t kBytesPerSeat = 100'000;
constexpr int64_t kObjectsPerSeat = 100;  // if the object size is unknown
// The later cost of a write: one seat for 5 ms per 10 watchers. Fewer watchers do not justify
// delaying other requests.
constexpr int64_t kWatchersPerSeat = 10;
constexpr std::chrono::milliseconds kEventTime{5};
constexpr int64_t kMaxWriteSeats = 10;

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// With a selector all objects are read, whatever the page size.
int64_t ObjectsRead(const Query& query, int64_t stored) {
  const std::string* const labels = query.Find("labelSelector");
  const std::string* const fields = query.Find("fieldSelector");
  const bool selects =
      (labels != nullptr && !labels->empty()) || (fields != nullptr && !fields->empty());
  const Result<std::optional<int64_t>> limit = query.Int("limit");
  if (selects || !limit.ok() || limit->value_or(0) <= 0) return stored;
  return std::min(stored, **limit);
}

Work EstimateList(const RequestInfo& info, const Query& query, const WorkFacts& facts) {
  Work work;
  // A list with a name is a get.
  if (!info.name.empty() || !facts.known) return work;
  const int64_t objects = ObjectsRead(query, facts.objects);
  // Compares before multiplying, because a client-chosen count must not overflow.
  const int64_t most = kMaxListSeats * kBytesPerSeat;
  const int64_t seats = facts.object_bytes <= 0 ? CeilDiv(objects, kObjectsPerSeat)
                        : objects > most / facts.object_bytes
                            ? kMaxListSeats
                            : CeilDiv(objects * facts.object_bytes, kBytesPerSeat);
  work.seats = static_cast<int>(
      std::clamp<int64_t>(seats, 1, std::clamp(facts.max_seats, 1, kMaxListSeats)));
  return work;
}

Work EstimateWrite(const WorkFacts& facts) {
  Work work;
  if (facts.watchers < kWatchersPerSeat) return work;
  const int64_t wanted = CeilDiv(facts.watchers, kWatchersPerSeat);
  const int64_t seats =
      std::clamp<int64_t>(wanted, 1, std::clamp<int64_t>(facts.max_seats, 1, kMaxWriteSeats));
  work.final_seats = static_cast<int>(seats);
  // The same work with fewer seats takes longer.
  work.after = Clock::Duration(kEventTime) * wanted / seats;
  return work;
}

}  // namespace

bool IsListLike(const RequestInfo& info, const Query& query) {
  if (!info.is_resource || !info.subresource.empty()) return false;
  return info.verb == "list" || (info.verb == "watch" && query.Flag("sendInitialEvents"));
}

bool NotifiesWatchers(const RequestInfo& info) {
  if (!info.is_resource) return false;
  // A token is returned, not stored.
  if (info.resource == "serviceaccounts" && info.subresource == "token") return false;
  return info.verb == "create" || info.verb == "update" || info.verb == "patch" ||
         info.verb == "delete";
}

Work EstimateWork(const RequestInfo& info, const Query& query, const WorkFacts& facts) {
  if (IsListLike(info, query)) return EstimateList(info, query, facts);
  if (NotifiesWatchers(info)) return EstimateWrite(facts);
  return {};
}

}  // namespace cox::apiserver
