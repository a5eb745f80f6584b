// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api/events/v1.h"
#include "base/lru_map.h"
#include "base/metrics.h"
#include "base/token_bucket.h"
#include "coxswain/event_recorder.h"

namespace cox::sdk {

// A recorded event in the queue of the sender.
struct RecordedEvent {
  EventRecorder::Reference about;
  EventKind kind = EventKind::kNormal;
  std::string reason, action, note;
  Clock::WallTime time;
};

// Counters of results; null if metrics are disabled.
struct EventCounts {
  Counter* created = nullptr;
  Counter* counted = nullptr;
  Counter* filtered = nullptr;
  Counter* dropped = nullptr;
};

// Creates Events from recorded events, maintains the active series, and limits the rate per object.
//
// Guarantees: at most kMaxSeries series are active; a new one evicts the one whose last occurrence
//   is the oldest. The cost of an event is O(log n) in the number of active series.
// Threads: one thread, which blocks during requests.
// Ownership: the client must outlive this object.
class EventSender {
 public:
  static constexpr size_t kMaxSeries = 4096;

  EventSender(Client& client, EventRecorder::Options options, EventCounts counts)
      : client_(client), options_(std::move(options)), counts_(counts) {}

  void Take(Context& ctx, const RecordedEvent& recorded);

  // When WriteDue must be called next; kNever if there is nothing to do.
  Clock::SteadyTime NextDue() const;
  // Writes the counts that are due, or with `all` every unwritten count, and removes series that
  // have ended.
  void WriteDue(Context& ctx, bool all);

 private:
  struct Series {
    std::string_view object() const { return std::string_view(key).substr(0, object_size); }

    std::string key;         // begins with the key of the object
    size_t object_size = 0;  // of that key, which is also the key of the rate limiter
    // The Event as it was created, in protobuf: one allocation. An Event struct has about ten, and
    // thousands of series are kept for minutes.
    std::string event;
    int32_t count = 1;
    MicroTime last_observed;
    Clock::SteadyTime seen;     // last occurrence
    Clock::SteadyTime written;  // last write
    Clock::SteadyTime blocked;  // rate limited until then
    bool dirty = false;         // the count has not been written
    Clock::SteadyTime due;      // when the count must be written, if dirty
  };
  using SeriesList = std::list<Series>;

  events::v1::Event MakeEvent(const RecordedEvent& recorded);
  // Creates the Event of a new series. `key` begins with the key of the object, of `object_size`
  // bytes.
  void Begin(Context& ctx, std::string key, size_t object_size, const RecordedEvent& recorded);
  void WriteCount(Context& ctx, Series& series);
  // Marks the count as not written, and schedules the write.
  void SetDirty(Series& series);
  void SetClean(Series& series);
  void Remove(SeriesList::iterator series);
  // Zero if a request about the object may be sent; otherwise the remaining delay.
  Clock::Duration ReserveRequest(std::string_view object, Clock::SteadyTime now);
  Status Create(Context& ctx, const events::v1::Event& event);
  // Retries transient errors for some minutes, a rejection with 429 once.
  Status Send(Context& ctx, const Operation& operation);
  int64_t NextNanos(Clock::WallTime time);

  static constexpr size_t kMaxObjects = 4096;

  Client& client_;
  const EventRecorder::Options options_;
  const EventCounts counts_;
  SeriesList series_;  // in the order of their last occurrences
  std::unordered_map<std::string_view, SeriesList::iterator> index_;  // by Series::key
  std::set<std::pair<Clock::SteadyTime, Series*>> dirty_;             // in the order of Series::due
  LruMap<TokenBucket> shares_{kMaxObjects};
  int64_t last_nanos_ = 0;
};

}  // namespace cox::sdk
