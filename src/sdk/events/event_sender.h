// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "api/events/v1.h"
#include "base/lru_map.h"
#include "base/metrics.h"
#include "base/token_bucket.h"
#include "coxswain/event_recorder.h"

namespace cox::sdk {

// Something that was recorded, on its way to the sender.
struct RecordedEvent {
  EventRecorder::Reference about;
  EventKind kind = EventKind::kNormal;
  std::string reason, action, note;
  Clock::WallTime time;
};

// What became of them; null pointers where nobody counts.
struct EventCounts {
  Counter* created = nullptr;
  Counter* counted = nullptr;
  Counter* filtered = nullptr;
  Counter* dropped = nullptr;
};

// Makes Events of what was recorded: knows the series that go on, and how much has been said about
// each object.
//
// Threads: one, which it blocks while the server does not answer. Ownership: the client outlives
// it.
class EventSender {
 public:
  EventSender(Client& client, EventRecorder::Options options, EventCounts counts)
      : client_(client), options_(std::move(options)), counts_(counts) {}

  void Take(Context& ctx, RecordedEvent recorded);

  // When WriteDue has something to do next; kNever: nothing.
  Clock::SteadyTime NextDue() const;
  // Writes the counts that are due, with `all` every one that is not written, and forgets series
  // that have ended.
  void WriteDue(Context& ctx, bool all);

 private:
  struct Series {
    events::v1::Event event;  // as it was created
    std::string object;       // whose share of requests it uses
    int32_t count = 1;
    MicroTime last_observed;
    Clock::SteadyTime seen;     // when there was one last
    Clock::SteadyTime written;  // when the server was told last
    Clock::SteadyTime blocked;  // its object has had its share until then
    bool dirty = false;         // the server knows a smaller count

    Clock::SteadyTime Due() const;
  };

  events::v1::Event MakeEvent(const RecordedEvent& recorded);
  void Begin(Context& ctx, const std::string& key, const std::string& object,
             const RecordedEvent& recorded);
  void WriteCount(Context& ctx, Series& series);
  // Makes room for one more.
  void ForgetOldest(Context& ctx);
  // Zero: a request about the object may be sent. Else how long that is not so.
  Clock::Duration AskShare(const std::string& object, Clock::SteadyTime now);
  Status Create(Context& ctx, const events::v1::Event& event);
  // Again and again while the reason is a passing one, for some minutes.
  Status Send(Context& ctx, const Operation& operation);
  int64_t NextNanos(Clock::WallTime time);

  static constexpr size_t kMaxObjects = 4096;
  static constexpr size_t kMaxSeries = 4096;

  Client& client_;
  const EventRecorder::Options options_;
  const EventCounts counts_;
  std::unordered_map<std::string, Series> series_;
  LruMap<TokenBucket> shares_{kMaxObjects};
  int64_t last_nanos_ = 0;
};

}  // namespace cox::sdk
