// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/watch_source.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "coxswain/client.h"

namespace cox::apiserver {
namespace {

using storage::Change;
using storage::ChangeType;

constexpr std::chrono::seconds kBookmarkEvery{60};
// The last bookmark is sent this long before the timeout of the watch.
constexpr std::chrono::seconds kBookmarkBeforeEnd{2};
// Changes per batch: enough to fill a buffer, but few enough not to delay other work on the thread.
constexpr size_t kBatch = 64;

std::string_view NameOf(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
    case EventType::kBookmark:
      return "BOOKMARK";
  }
  return {};
}

// The number of bytes from piece number `from` on.
size_t SizeOf(const std::vector<Bytes>& pieces, size_t from) {
  size_t size = 0;
  for (size_t i = from; i < pieces.size(); ++i) size += pieces[i].size();
  return size;
}

}  // namespace

void WatchSource::set_clock(Context ctx, std::chrono::nanoseconds timeout) {
  ctx_ = std::move(ctx);
  auto flag = [this](std::shared_ptr<std::atomic<bool>> flag) {
    return [flag = std::move(flag), relay = relay_] {
      flag->store(true);
      relay->Wake();
    };
  };
  end_timer_ = ctx_->clock().After(timeout, flag(over_));
  on_stop_ = ctx_->OnStop(flag(over_));
  if (!options_.allow_bookmarks) return;
  bookmark_timer_ = ctx_->clock().After(kBookmarkEvery, flag(bookmark_due_));
  last_bookmark_timer_ = ctx_->clock().After(
      std::max<std::chrono::nanoseconds>(timeout - kBookmarkBeforeEnd, {}), flag(bookmark_due_));
}

void WatchSource::RestartBookmarkTimer() {
  bookmark_timer_ = ctx_->clock().After(kBookmarkEvery, [due = bookmark_due_, relay = relay_] {
    due->store(true);
    relay->Wake();
  });
}

bool WatchSource::Selected(const storage::EntryPtr& entry) const {
  return entry != nullptr && Selects(options_, *entry, entry->ns());
}

std::optional<WatchSource::Step> WatchSource::StepOf(const Change& change) const {
  const bool now = change.type != ChangeType::kDeleted && Selected(change.entry);
  const bool before = Selected(change.previous);
  if (now) {
    return Step{.kind = Step::Kind::kObject,
                .type = before ? EventType::kModified : EventType::kAdded,
                .entry = change.entry};
  }
  if (!before) return std::nullopt;
  // An object that no longer matches the selectors is sent as deleted, in its previous state.
  return Step{.kind = Step::Kind::kObject,
              .type = EventType::kDeleted,
              .entry = change.type == ChangeType::kDeleted
                           ? change.entry
                           : storage::Entry::CreateDeleted(change.previous, change.revision)};
}

WatchSource::Step WatchSource::NextChange() {
  for (;;) {
    while (next_change_ < batch_.changes.size()) {
      if (auto step = StepOf(*batch_.changes[next_change_++])) return *std::move(step);
    }
    revision_ = std::max(revision_, batch_.revision);
    if (batch_.ended) return {.kind = Step::Kind::kEnd};
    Result<storage::Watcher::Batch> batch = watcher_->Take(kBatch);
    if (!batch.ok()) return {.kind = Step::Kind::kError, .error = batch.status()};
    batch_ = *std::move(batch);
    next_change_ = 0;
    // Only this call of Take guarantees that the next change causes a wake-up. The one for changes
    // after an earlier call may have come before the reader began to wait.
    if (batch_.changes.empty() && !batch_.more && !batch_.ended) {
      revision_ = std::max(revision_, batch_.revision);
      if (!bookmark_due_->exchange(false)) return {};
      RestartBookmarkTimer();
      return {.kind = Step::Kind::kBookmark};
    }
  }
}

WatchSource::Step WatchSource::Next() {
  if (!failure_.ok()) return {.kind = Step::Kind::kError, .error = failure_};
  if (over_->load()) return {.kind = Step::Kind::kEnd};
  if (next_initial_ < initial_.size()) {
    return {.kind = Step::Kind::kObject, .entry = std::move(initial_[next_initial_++])};
  }
  if (std::exchange(mark_end_, false)) return EndInitial();
  ReleaseInitial();
  return NextChange();
}

WatchSource::Step WatchSource::EndInitial() {
  if (initial_seconds_ != nullptr) {
    const Clock::Duration took = ctx_->clock().Monotonic() - begun_;
    initial_seconds_->Observe(std::chrono::duration<double>(took).count());
  }
  return {.kind = Step::Kind::kBookmark, .initial_end = true};
}

void WatchSource::ReleaseInitial() {
  held_.reset();
  if (initial_.empty()) return;
  std::vector<storage::EntryPtr>().swap(initial_);
  next_initial_ = 0;
}

net::BodySource::State WatchSource::Pull(size_t budget, std::vector<Bytes>* out) {
  size_t written = 0;
  for (size_t counted = out->size(); written < budget; counted = out->size()) {
    const Step step = Next();
    switch (step.kind) {
      case Step::Kind::kNothing:
        return State::kWait;
      case Step::Kind::kEnd:
        return State::kEnd;
      case Step::Kind::kError:
        writer_.WriteStatus(step.error, out);
        return State::kEnd;
      case Step::Kind::kBookmark:
        writer_.WriteBookmark(revision_, step.initial_end, out);
        break;
      case Step::Kind::kObject:
        failure_ = writer_.Write(NameOf(step.type), *step.entry, out);
        break;
    }
    written += SizeOf(*out, counted);
  }
  return State::kMore;
}

net::Content* WatchSource::content() {
  const bool same_kind = &resource_->kind() == &resource_->strategy().kind();
  const bool whole = writer_.accepted().transform == Transform::kNone;
  return same_kind && whole ? this : nullptr;
}

Result<std::optional<sdk::StoredEvent>> WatchSource::Take() {
  for (;;) {
    Step step = Next();
    switch (step.kind) {
      case Step::Kind::kNothing:
        return std::optional<sdk::StoredEvent>();
      case Step::Kind::kEnd:
        return EndOfWatch();
      case Step::Kind::kError:
        return step.error;
      case Step::Kind::kBookmark:
        return sdk::StoredEvent{.type = EventType::kBookmark,
                                .version = revision_,
                                .initial_events_end = step.initial_end};
      case Step::Kind::kObject:
        failure_ = CheckReadable(*step.entry);
        if (!step.entry->decodable()) break;
        const storage::Revision version = step.entry->revision();
        return sdk::StoredEvent{
            .type = step.type, .object = std::move(step.entry), .version = version};
    }
  }
}

}  // namespace cox::apiserver
