// SPDX-License-Identifier: Apache-2.0
#include "sdk/events/event_sender.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"
#include "sdk/client/retry.h"
#include "sdk/events/event_text.h"

namespace cox::sdk {
namespace {

using events::v1::Event;
using events::v1::EventSeries;
using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyTime = Clock::SteadyTime;

// A series ends after this time without an occurrence.
constexpr std::chrono::minutes kSeriesEnd{6};
// Interval of writing a growing count.
constexpr seconds kCountPeriod{30};
// client-go's rate limit per object.
constexpr double kBurst = 25;
constexpr double kPerSecond = 1.0 / 300;
// Maximum attempts and the delays between them: three minutes in total.
constexpr int kMaxTries = 12;
// An overloaded server rejects events first: it must not get them again and again.
constexpr int kMaxTriesRejected = 2;
constexpr milliseconds kFirstWait{500};
constexpr milliseconds kLongestWait{30'000};
constexpr seconds kAttemptTimeout{30};

bool IsPassing(const Status& status) {
  switch (status.reason()) {
    case Reason::kServiceUnavailable:
    case Reason::kTimeout:
    case Reason::kServerTimeout:
    case Reason::kTooManyRequests:
    case Reason::kInternalError:
      return true;
    default:
      return false;
  }
}

std::string_view KindName(EventKind kind) {
  return kind == EventKind::kWarning ? "Warning" : "Normal";
}

// Builds a map key. The lengths keep the parts unambiguous.
std::string KeyOf(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (std::string_view part : parts) {
    key += std::to_string(part.size());
    key += ':';
    key += part;
  }
  return key;
}
std::string ObjectKeyOf(const EventRecorder::Reference& about) {
  return KeyOf({about.gvk.group, about.gvk.version, about.gvk.kind, about.key.ns, about.key.name,
                about.uid});
}

MicroTime MicroTimeOf(Clock::WallTime time) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch());
  return MicroTime::FromUnixNanos(std::chrono::nanoseconds(micros).count());
}

void Count(Counter* counter) {
  if (counter != nullptr) counter->Inc();
}

}  // namespace

void EventSender::SetDirty(Series& series) {
  SetClean(series);
  series.dirty = true;
  series.due = std::max<SteadyTime>(series.written + kCountPeriod, series.blocked);
  dirty_.emplace(series.due, &series);
}

void EventSender::SetClean(Series& series) {
  if (series.dirty) dirty_.erase({series.due, &series});
  series.dirty = false;
}

void EventSender::Remove(SeriesList::iterator series) {
  SetClean(*series);
  index_.erase(series->key);
  series_.erase(series);
}

void EventSender::Take(Context& ctx, const RecordedEvent& recorded) {
  std::string key = ObjectKeyOf(recorded.about);
  const size_t object_size = key.size();
  key += KeyOf({recorded.action, recorded.reason, KindName(recorded.kind)});
  const SteadyTime now = ctx.clock().Monotonic();
  const auto found = index_.find(key);
  if (found == index_.end()) return Begin(ctx, std::move(key), object_size, recorded);
  Series& series = *found->second;
  if (now - series.seen > kSeriesEnd) {
    if (series.dirty) WriteCount(ctx, series);
    Remove(found->second);
    return Begin(ctx, std::move(key), object_size, recorded);
  }
  Count(counts_.counted);
  ++series.count;
  series.seen = now;
  series_.splice(series_.end(), series_, found->second);
  series.last_observed = MicroTimeOf(recorded.time);
  SetDirty(series);
  // The second occurrence is written immediately, because it turns the event into a series.
  if (series.count == 2 || now >= series.due) WriteCount(ctx, series);
}

void EventSender::Begin(Context& ctx, std::string key, size_t object_size,
                        const RecordedEvent& recorded) {
  const std::string_view object = std::string_view(key).substr(0, object_size);
  if (ReserveRequest(object, ctx.clock().Monotonic()) > Clock::Duration::zero()) {
    return Count(counts_.filtered);
  }
  const Event event = MakeEvent(recorded);
  const Status created = Create(ctx, event);
  if (!created.ok()) {
    Count(counts_.dropped);
    // Many events are dropped during overload; coxswain_events_total counts them.
    COX_V(ctx.log(), created.Is(Reason::kTooManyRequests) ? 2 : 0, "Dropped an event",
          {"why", created.message()}, {"object", recorded.about.key.ToString()},
          {"reason", recorded.reason});
    return;
  }
  Count(counts_.created);
  if (series_.size() >= kMaxSeries) {
    if (series_.front().dirty) WriteCount(ctx, series_.front());
    Remove(series_.begin());
  }
  const SteadyTime now = ctx.clock().Monotonic();
  Series& series = series_.emplace_back(Series{.key = std::move(key),
                                               .object_size = object_size,
                                               .event = proto::Encode(event),
                                               .last_observed = {}});
  series.seen = series.written = now;
  index_.emplace(series.key, std::prev(series_.end()));
}

Event EventSender::MakeEvent(const RecordedEvent& recorded) {
  const EventRecorder::Reference& about = recorded.about;
  Event event;
  event.metadata.namespace_ = about.key.ns.empty() ? "default" : about.key.ns;
  event.metadata.name = EventName(about.key.name, about.gvk.kind, NextNanos(recorded.time));
  event.eventTime = MicroTimeOf(recorded.time);
  event.reportingController = options_.controller;
  event.reportingInstance = options_.instance;
  event.action = recorded.action;
  event.reason = recorded.reason;
  event.regarding = {.kind = about.gvk.kind,
                     .namespace_ = about.key.ns,
                     .name = about.key.name,
                     .uid = about.uid,
                     .apiVersion = about.gvk.group_version().ToString(),
                     .resourceVersion = about.resource_version};
  event.note = recorded.note;
  event.type = KindName(recorded.kind);
  return event;
}

// Unique timestamps, because Event names are derived from them.
int64_t EventSender::NextNanos(Clock::WallTime time) {
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
  last_nanos_ = std::max<int64_t>(last_nanos_ + 1, nanos.count());
  return last_nanos_;
}

Clock::Duration EventSender::ReserveRequest(std::string_view object, SteadyTime now) {
  TokenBucket* share = shares_.Find(object);
  if (share == nullptr) share = shares_.Put(std::string(object), TokenBucket(kPerSecond, kBurst));
  return share->Take(now);
}

void EventSender::WriteCount(Context& ctx, Series& series) {
  const SteadyTime now = ctx.clock().Monotonic();
  if (const Clock::Duration wait = ReserveRequest(series.object(), now);
      wait > Clock::Duration::zero()) {
    series.blocked = now + wait;
    SetDirty(series);  // later
    return;
  }
  Result<Event> event = proto::Decode<Event>(series.event);
  COX_CHECK(event.ok()) << "Begin encoded it: " << event.status().message();
  const Patch patch = Patch::Merge(json::Write(Value::MakeObject(
      {{"series", Value::MakeObject({{"count", int64_t{series.count}},
                                     {"lastObservedTime", series.last_observed.ToString()}})}})));
  const Resource events = Resource::Of<Event>();
  const WriteOptions options;
  Status written = Send(ctx, {.verb = Operation::Verb::kPatch,
                              .resource = events,
                              .key = {event->metadata.namespace_, event->metadata.name},
                              .patch = &patch,
                              .write = &options});
  if (written.Is(Reason::kNotFound)) {
    // The Event has expired. The series continues in a new Event.
    event->metadata.name =
        EventName(event->regarding.name, event->regarding.kind, NextNanos(ctx.clock().Now()));
    event->series = EventSeries{.count = series.count, .lastObservedTime = series.last_observed};
    series.event = proto::Encode(*event);
    written = Create(ctx, *event);
  }
  SetClean(series);
  series.written = ctx.clock().Monotonic();
  if (written.ok()) return;
  Count(counts_.dropped);
  COX_V(ctx.log(), written.Is(Reason::kTooManyRequests) ? 2 : 0, "Dropped the count of an event",
        {"event", event->metadata.name}, {"why", written.message()});
}

SteadyTime EventSender::NextDue() const {
  SteadyTime due = Clock::kNever;
  if (!series_.empty()) due = series_.front().seen + kSeriesEnd;
  if (!dirty_.empty()) due = std::min(due, dirty_.begin()->first);
  return due;
}

void EventSender::WriteDue(Context& ctx, bool all) {
  std::vector<Series*> due;
  const SteadyTime start = ctx.clock().Monotonic();
  for (const auto& [time, series] : dirty_) {
    if (!all && time > start) break;
    due.push_back(series);
  }
  for (Series* const series : due) {
    if (ctx.Done()) return;
    WriteCount(ctx, *series);
  }
  const SteadyTime now = ctx.clock().Monotonic();
  while (!series_.empty() && now - series_.front().seen >= kSeriesEnd) {
    // A count that the rate limit still delays at the end of its series is discarded.
    if (series_.front().dirty) Count(counts_.filtered);
    Remove(series_.begin());
  }
}

Status EventSender::Create(Context& ctx, const Event& event) {
  const Resource events = Resource::Of<Event>();
  const WriteOptions options;
  const Object body = Object::Of(event);
  const Status created = Send(ctx, {.verb = Operation::Verb::kCreate,
                                    .resource = events,
                                    .key = {event.metadata.namespace_, event.metadata.name},
                                    .body = &body,
                                    .write = &options});
  // An earlier attempt succeeded, but its response was lost.
  return created.Is(Reason::kAlreadyExists) ? Status() : created;
}

Status EventSender::Send(Context& ctx, const Operation& operation) {
  Operation once = operation;
  once.headers.Add(std::string(kSendOnce), "true");
  Clock::Duration wait = kFirstWait;
  for (int tries = 1;; ++tries) {
    Context attempt = ctx.WithTimeout(kAttemptTimeout);
    Status status = client_.Execute(attempt, once).status();
    const int most = status.Is(Reason::kTooManyRequests) ? kMaxTriesRejected : kMaxTries;
    if (status.ok() || !IsPassing(status) || tries >= most || ctx.Done()) return status;
    const seconds retry_after(status.details().retry_after_seconds);
    if (!ctx.Sleep(std::clamp<Clock::Duration>(retry_after, wait, kLongestWait)).ok())
      return status;
    wait = std::min<Clock::Duration>(wait * 2, kLongestWait);
  }
}

}  // namespace cox::sdk
