// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "apiserver/endpoints/verbs/event_writer.h"
#include "apiserver/endpoints/verbs/options.h"
#include "apiserver/registry/served/served_resource.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/metrics.h"
#include "net/http.h"
#include "sdk/client/response/stored_events.h"
#include "storage/watchcache/change.h"

namespace cox::apiserver {

// Forwards wake-ups from the cache and from timers to the connection, whose waker is created after
// the cache's watcher.
class WakeRelay {
 public:
  void Connect(std::shared_ptr<net::Waker> waker) {
    std::atomic_store(&waker_, std::move(waker));
    Wake();
  }
  void Wake() {
    if (std::shared_ptr<net::Waker> waker = std::atomic_load(&waker_)) waker->Wake();
  }

 private:
  std::shared_ptr<net::Waker> waker_;  // access with std::atomic_load and std::atomic_store only
};

// One running watch: a stream of events, which the connection pulls when the client can receive
// more. A client in the same process may take the events as StoredEvents instead.
//
// Threads: one thread at a time.
class WatchSource final : public net::BodySource, public sdk::StoredEventSource {
 public:
  WatchSource(const ServedResource& resource, ReadOptions options, EventWriter writer,
              std::shared_ptr<WakeRelay> relay)
      : resource_(resource.Hold()),
        options_(std::move(options)),
        writer_(std::move(writer)),
        relay_(std::move(relay)) {}

  void set_initial(std::vector<storage::EntryPtr> initial, storage::Revision revision,
                   bool mark_end) {
    initial_ = std::move(initial);
    revision_ = revision;
    mark_end_ = mark_end;
  }
  // Records the time since `begun` when the end of the initial events is marked.
  void set_initial_seconds(Histogram& seconds, Clock::SteadyTime begun) {
    initial_seconds_ = &seconds;
    begun_ = begun;
  }
  // Released when the initial events have been sent.
  void set_held(std::shared_ptr<void> held) { held_ = std::move(held); }
  void set_watcher(std::unique_ptr<storage::Watcher> watcher) { watcher_ = std::move(watcher); }
  void set_failure(Status failure) { failure_ = std::move(failure); }
  void set_clock(Context ctx, std::chrono::nanoseconds timeout);

  State Pull(size_t budget, std::vector<Bytes>* out) override;

  // Itself, unless the client needs another form of the objects than that of the cache.
  net::Content* content() override;
  const KindInfo& kind() const override { return resource_->kind(); }
  Result<std::optional<sdk::StoredEvent>> Take() override;

 private:
  // The next thing to send.
  struct Step {
    enum class Kind : uint8_t {
      kNothing,   // no event yet
      kObject,    // an object of the cache
      kBookmark,  // of revision_
      kError,     // the last event
      kEnd,
    };
    Kind kind = Kind::kNothing;
    EventType type = EventType::kAdded;  // of kObject
    storage::EntryPtr entry = nullptr;   // of kObject
    bool initial_end = false;            // of kBookmark
    Status error = {};                   // of kError
  };

  Step Next();
  Step EndInitial();
  Step NextChange();
  // The event of a change, if the client's selectors match the object before or after it.
  std::optional<Step> StepOf(const storage::Change& change) const;
  bool Selected(const storage::EntryPtr& entry) const;
  void ReleaseInitial();
  void RestartBookmarkTimer();

  // Keeps the resource alive if it is removed while the watch runs. The writer refers to it, too.
  const std::shared_ptr<const ServedResource> resource_;
  const ReadOptions options_;
  EventWriter writer_;
  const std::shared_ptr<WakeRelay> relay_;
  std::vector<storage::EntryPtr> initial_;
  size_t next_initial_ = 0;
  bool mark_end_ = false;
  Histogram* initial_seconds_ = nullptr;
  Clock::SteadyTime begun_;
  std::shared_ptr<void> held_;
  std::unique_ptr<storage::Watcher> watcher_;
  storage::Watcher::Batch batch_;
  size_t next_change_ = 0;  // in batch_
  Status failure_;
  storage::Revision revision_ = 0;
  std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> bookmark_due_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<Context> ctx_;
  StopHandle on_stop_;
  Timer end_timer_, bookmark_timer_, last_bookmark_timer_;
};

}  // namespace cox::apiserver
