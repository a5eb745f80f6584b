// SPDX-License-Identifier: Apache-2.0
#include "coxswain/event_recorder.h"

#include <deque>
#include <utility>

#include "base/host_name.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "sdk/events/event_sender.h"
#include "sdk/events/event_text.h"

namespace cox {
namespace sdk {
namespace {

constexpr size_t kMaxWaiting = 1000;

EventCounts CountsIn(MetricsRegistry* metrics) {
  if (metrics == nullptr) return {};
  CounterVec& events = metrics->AddCounterVec(
      {"coxswain_events_total", "Events that were recorded, by what became of them.",
       Stability::kAlpha},
      {"result"});
  return {.created = &events.With({"created"}),
          .counted = &events.With({"counted"}),
          .filtered = &events.With({"filtered"}),
          .dropped = &events.With({"dropped"})};
}

EventRecorder::Options Complete(EventRecorder::Options options) {
  if (options.instance.empty()) options.instance = HostName();
  if (options.instance.empty()) options.instance = "unknown";
  options.instance = CutText(options.instance, kMaxWord);
  return options;
}

class Recorder final : public EventRecorder {
 public:
  Recorder(const Context& ctx, Client& client, Options options)
      : clock_(ctx.clock()),
        counts_(CountsIn(options.metrics)),
        sender_(client, Complete(std::move(options)), counts_),
        scope_(ctx, "events") {
    const Status started = scope_.Go("events", [this](Context& work) { Run(work); });
    if (started.ok()) return;
    COX_ERROR(ctx.log(), started, "No events will be sent");
    ended_ = true;
  }
  ~Recorder() override { scope_.Stop(); }

  void Record(const Object& about, EventKind kind, std::string_view reason, std::string_view action,
              std::string_view note) override {
    const ObjectHead head = HeadOf(about);
    RecordAbout({.gvk = about.gvk(),
                 .key = head.key,
                 .uid = head.uid,
                 .resource_version = head.version == 0 ? "" : std::to_string(head.version)},
                kind, reason, action, note);
  }

  void RecordAbout(const Reference& about, EventKind kind, std::string_view reason,
                   std::string_view action, std::string_view note) override {
    RecordedEvent event{.about = about,
                        .kind = kind,
                        .reason = CutText(reason, kMaxWord),
                        // The API requires both.
                        .action = CutText(action.empty() ? reason : action, kMaxWord),
                        .note = CutText(note, kMaxNote),
                        .time = clock_.Now()};
    MutexLock lock(mu_);
    if (ended_ || waiting_.size() >= kMaxWaiting) {
      CountDropped();
      return;
    }
    waiting_.push_back(std::move(event));
    changed_.NotifyAll();
  }

  Status Flush(Context& ctx) override {
    MutexLock lock(mu_);
    const uint64_t wanted = ++flush_requested_;
    changed_.NotifyAll();
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [&] {
      mu_.AssertHeld();
      return ended_ || flushed_ >= wanted;
    }));
    return flushed_ >= wanted ? Status() : Status::Unavailable("events are no longer sent");
  }

 private:
  // Sends queued events, then writes due counts and completes flushes.
  void Run(Context& ctx) {
    while (!ctx.Done()) {
      const Clock::SteadyTime due = sender_.NextDue();
      std::deque<RecordedEvent> taken;
      uint64_t flush = 0;
      {
        MutexLock lock(mu_);
        (void)changed_.WaitUntil(mu_, clock_, due, ctx.token(), [this] {
          mu_.AssertHeld();
          return !waiting_.empty() || flush_requested_ != flushed_;
        });
        taken.swap(waiting_);
        flush = flush_requested_;
      }
      for (RecordedEvent& event : taken) {
        if (ctx.Done()) {
          CountDropped();
        } else {
          sender_.Take(ctx, std::move(event));
        }
      }
      sender_.WriteDue(ctx, flush != flushed());
      MutexLock lock(mu_);
      flushed_ = ctx.Done() ? flushed_ : flush;
      changed_.NotifyAll();
    }
    MutexLock lock(mu_);
    ended_ = true;
    for (; !waiting_.empty(); waiting_.pop_front()) CountDropped();
    changed_.NotifyAll();
  }
  void CountDropped() const {
    if (counts_.dropped != nullptr) counts_.dropped->Inc();
  }
  uint64_t flushed() {
    MutexLock lock(mu_);
    return flushed_;
  }

  Clock& clock_;
  const EventCounts counts_;
  EventSender sender_;  // used only by the sending thread
  Mutex mu_;
  CondVar changed_;
  std::deque<RecordedEvent> waiting_ COX_GUARDED_BY(mu_);
  uint64_t flush_requested_ COX_GUARDED_BY(mu_) = 0;
  uint64_t flushed_ COX_GUARDED_BY(mu_) = 0;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  Scope scope_;
};

}  // namespace
}  // namespace sdk

std::unique_ptr<EventRecorder> EventRecorder::Create(const Context& ctx, Client& client,
                                                     Options options) {
  return std::make_unique<sdk::Recorder>(ctx, client, std::move(options));
}

}  // namespace cox
