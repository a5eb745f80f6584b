// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/change_log.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/heap.h"

namespace cox::storage {
namespace {

// The maximum number of changes that one Take() scans, because the log is locked meanwhile.
constexpr size_t kMaxScan = 4096;
// The maximum number of changes that one Trim() drops, because it runs on the clock's thread.
constexpr size_t kMaxTrim = 1024;
constexpr Clock::Duration kTrimPause = std::chrono::milliseconds(10);
// Memory is returned to the kernel if the earlier states of objects took this much and take less
// than half of it now.
constexpr size_t kReturnDropped = size_t{8} << 20;

size_t HashOf(std::string_view value) { return std::hash<std::string_view>()(value); }

std::string_view PreviousValue(const Change& change) {
  return change.previous == nullptr ? std::string_view() : change.previous->indexed_value();
}

// The bytes that only the log keeps alive: the current state of an object is in the tree, too.
size_t KeptBytes(const Change& change) {
  return change.previous == nullptr ? 0 : change.previous->stored().size();
}

}  // namespace

// The log's state of a watcher. Everything but wake_mu and its data is guarded by the log's lock.
struct ChangeLog::Wakes::State : std::enable_shared_from_this<State> {
  State(WatchOptions given, bool whole)
      : options(std::move(given)), whole(whole), value_hash(HashOf(options.field_value)) {}

  void Wake() {
    MutexLock lock(wake_mu);
    if (dropped) return;
    waker = std::this_thread::get_id();
    if (options.wake) options.wake();
    waker = std::thread::id();
  }
  // After this the callback neither runs nor will run, unless Drop() is called from the callback.
  void Drop() COX_NO_THREAD_SAFETY_ANALYSIS {
    const bool inside = waker == std::this_thread::get_id();
    if (!inside) wake_mu.Lock();
    dropped = true;
    if (!inside) wake_mu.Unlock();
  }

  const WatchOptions options;
  const bool whole;  // matches all keys of the resource
  const size_t value_hash;
  Group* group = nullptr;
  uint64_t cursor = 0;   // the next change to scan, unless waiting
  bool waiting = false;  // has taken all changes
  size_t place = 0;      // index in group->waiting
  bool expired = false;
  Revision delivered = 0;

  Mutex wake_mu;
  bool dropped COX_GUARDED_BY(wake_mu) = false;
  std::atomic<std::thread::id> waker;
};

ChangeLog::Wakes::Wakes() = default;
ChangeLog::Wakes::~Wakes() = default;
ChangeLog::Wakes::Wakes(Wakes&&) noexcept = default;
ChangeLog::Wakes& ChangeLog::Wakes::operator=(Wakes&&) noexcept = default;

void ChangeLog::Wakes::Run() {
  for (const auto& state : due_) state->Wake();
  due_.clear();
  gone_.clear();
}

class ChangeLog::Handle final : public Watcher {
 public:
  Handle(std::shared_ptr<ChangeLog> log, std::shared_ptr<State> state)
      : log_(std::move(log)), state_(std::move(state)) {}
  ~Handle() override {
    log_->RemoveWatcher(*state_);
    state_->Drop();
  }
  Result<Batch> Take(size_t max_changes) override { return log_->Take(*state_, max_changes); }

 private:
  const std::shared_ptr<ChangeLog> log_;
  const std::shared_ptr<State> state_;
};

ChangeLog::ChangeLog(Clock& clock, std::string root, size_t capacity, size_t max_capacity,
                     size_t max_bytes)
    : clock_(clock),
      root_(std::move(root)),
      min_capacity_(std::max<size_t>(capacity, 1)),
      max_capacity_(std::max(max_capacity, min_capacity_)),
      max_bytes_(max_bytes),
      capacity_(min_capacity_) {}

ChangeLog::Wakes ChangeLog::Restart(Revision revision) {
  Wakes wakes;
  MutexLock lock(mu_);
  for (Slot& slot : slots_) wakes.gone_.push_back(std::move(slot.change));
  first_ = NextNumber();
  slots_.clear();
  bytes_ = 0;
  oldest_ = revision_ = revision;
  for (State* state : watchers_) {
    if (state->expired) continue;
    state->expired = true;
    if (!state->waiting) continue;
    StopWaiting(*state);
    wakes.due_.push_back(state->shared_from_this());
  }
  return wakes;
}

ChangeLog::Wakes ChangeLog::End() {
  Wakes wakes;
  MutexLock lock(mu_);
  ended_ = true;
  for (State* state : watchers_) {
    if (!state->waiting) continue;
    StopWaiting(*state);
    wakes.due_.push_back(state->shared_from_this());
  }
  return wakes;
}

void ChangeLog::RejectBefore(Revision revision) {
  MutexLock lock(mu_);
  oldest_ = std::max(oldest_, revision);
}

ChangeLog::Wakes ChangeLog::Append(std::span<const ChangePtr> changes, Revision revision) {
  Wakes wakes;
  const Clock::SteadyTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  const bool progress = revision > revision_;
  revision_ = std::max(revision_, revision);
  for (const ChangePtr& change : changes) {
    const size_t bytes = KeptBytes(*change);
    MakeRoom(now, bytes, wakes);
    bytes_ += bytes;
    slots_.push_back(
        {change, now, HashOf(change->entry->indexed_value()), HashOf(PreviousValue(*change))});
    WakeFor(NextNumber() - 1, wakes);
  }
  if (progress) WakeForProgress(wakes);
  most_bytes_ = std::max(most_bytes_, bytes_);
  ScheduleTrim(now);
  return wakes;
}

void ChangeLog::MakeRoom(Clock::SteadyTime now, size_t bytes, Wakes& wakes) {
  while (!slots_.empty() && bytes_ + bytes > max_bytes_) DropOldest(wakes);
  if (slots_.size() < capacity_) return;
  if (now - slots_.front().added < kWindow && capacity_ < max_capacity_) {
    capacity_ = std::min(capacity_ * 2, max_capacity_);
    return;
  }
  while (slots_.size() >= capacity_) DropOldest(wakes);
}

void ChangeLog::DropOldest(Wakes& wakes) {
  ChangePtr& change = slots_.front().change;
  oldest_ = std::max(oldest_, change->revision);
  bytes_ -= KeptBytes(*change);
  wakes.gone_.push_back(std::move(change));
  slots_.pop_front();
  ++first_;
}

void ChangeLog::ScheduleTrim(Clock::SteadyTime now) {
  if (trim_scheduled_ || slots_.size() <= min_capacity_) return;
  trim_scheduled_ = true;
  const Clock::Duration until_old = slots_.front().added + kWindow - now;
  const Clock::Duration delay = until_old <= Clock::Duration::zero()
                                    ? kTrimPause
                                    : std::max<Clock::Duration>(until_old, kTrimEvery);
  trim_ = clock_.After(delay, [log = weak_from_this()] {
    if (const auto self = log.lock()) self->Trim();
  });
}

void ChangeLog::Trim() {
  bool return_memory;
  {
    Wakes dropped;  // freed without the lock
    return_memory = DropOld(dropped);
  }
  if (return_memory) ReturnFreeMemory();
}

bool ChangeLog::DropOld(Wakes& dropped) {
  const Clock::SteadyTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  const auto old = [&]() COX_REQUIRES(mu_) {
    return slots_.size() > min_capacity_ && now - slots_.front().added >= kWindow;
  };
  for (size_t i = 0; i < kMaxTrim && old(); ++i) DropOldest(dropped);
  while (capacity_ / 2 >= std::max(slots_.size(), min_capacity_)) capacity_ /= 2;
  trim_scheduled_ = false;
  ScheduleTrim(now);
  if (old() || most_bytes_ < kReturnDropped || bytes_ > most_bytes_ / 2) return false;
  most_bytes_ = bytes_;
  return true;
}

// A change of "/registry/pods/ns/web" wakes the watchers of "/registry/pods/", of
// "/registry/pods/ns/", of the key itself, and of the node that the Pod is or was bound to.
void ChangeLog::WakeFor(uint64_t number, Wakes& wakes) {
  const Change& change = At(number);
  const std::string_view key = change.entry->key();
  if (!values_.empty()) {
    const std::string_view value = change.entry->indexed_value();
    const std::string_view previous = PreviousValue(change);
    if (const auto group = values_.find(value); group != values_.end()) {
      WakeGroup(group->second, number, wakes);
    }
    if (const auto group = values_.find(previous); previous != value && group != values_.end()) {
      WakeGroup(group->second, number, wakes);
    }
  }
  if (!folders_.empty()) {
    for (size_t end = key.find('/', root_.empty() ? 0 : root_.size() - 1);
         end != std::string_view::npos; end = key.find('/', end + 1)) {
      const auto group = folders_.find(key.substr(0, end + 1));
      if (group != folders_.end()) WakeGroup(group->second, number, wakes);
    }
  }
  if (!keys_.empty()) {
    const auto group = keys_.find(key);
    if (group != keys_.end()) WakeGroup(group->second, number, wakes);
  }
  if (!other_group_.waiting.empty()) WakeGroup(other_group_, number, wakes);
}

void ChangeLog::WakeGroup(Group& group, uint64_t number, Wakes& wakes) {
  const Slot& slot = SlotAt(number);
  size_t kept = 0;
  for (State* state : group.waiting) {
    if (Concerns(*state, slot)) {
      state->waiting = false;
      state->cursor = number;
      wakes.due_.push_back(state->shared_from_this());
    } else {
      state->place = kept;
      group.waiting[kept++] = state;
    }
  }
  group.waiting.resize(kept);
}

void ChangeLog::WakeForProgress(Wakes& wakes) {
  for (State* state : often_) {
    if (!state->waiting) continue;
    StopWaiting(*state);
    wakes.due_.push_back(state->shared_from_this());
  }
}

bool ChangeLog::Concerns(const State& state, const Slot& slot) const {
  const Change& change = *slot.change;
  if (change.revision <= state.options.after) return false;
  if (const std::string& value = state.options.field_value; !value.empty()) {
    const size_t hash = state.value_hash;
    const bool now = slot.value_hash == hash && change.entry->indexed_value() == value;
    if (!now && !(slot.previous_value_hash == hash && PreviousValue(change) == value)) return false;
  }
  if (state.whole) return true;
  const std::string_view key = change.entry->key();
  return state.options.exact ? key == state.options.prefix : key.starts_with(state.options.prefix);
}

Result<std::unique_ptr<Watcher>> ChangeLog::Watch(WatchOptions options) {
  const Revision after = options.after;
  const bool whole = !options.exact && root_.starts_with(options.prefix);
  auto state = std::make_shared<State>(std::move(options), whole);
  MutexLock lock(mu_);
  if (after < oldest_) {
    return Status::Expired("too old resource version: " + std::to_string(after) + " (" +
                           std::to_string(oldest_) + ")");
  }
  state->cursor = After(after);
  state->delivered = after;
  Enter(*state);
  return std::unique_ptr<Watcher>(std::make_unique<Handle>(shared_from_this(), std::move(state)));
}

std::pair<ChangeLog::Groups*, std::string_view> ChangeLog::GroupsOf(const State& state) {
  const WatchOptions& options = state.options;
  if (options.exact) return {&keys_, options.prefix};
  if (!options.field_value.empty()) return {&values_, options.field_value};
  if (state.whole) return {&folders_, root_};
  if (options.prefix.ends_with('/')) return {&folders_, options.prefix};
  return {nullptr, {}};
}

void ChangeLog::Enter(State& state) {
  const auto [groups, key] = GroupsOf(state);
  state.group = groups == nullptr ? &other_group_ : &(*groups)[std::string(key)];
  ++state.group->members;
  watchers_.insert(&state);
  if (state.options.wake_often) often_.insert(&state);
}

void ChangeLog::RemoveWatcher(State& state) {
  MutexLock lock(mu_);
  if (state.waiting) StopWaiting(state);
  watchers_.erase(&state);
  often_.erase(&state);
  if (--state.group->members > 0) return;
  const auto [groups, key] = GroupsOf(state);
  if (groups != nullptr) groups->erase(groups->find(key));
}

Result<Watcher::Batch> ChangeLog::Take(State& state, size_t max_changes) {
  MutexLock lock(mu_);
  if (state.waiting) {
    StopWaiting(state);
    state.cursor = NextNumber();  // changes added meanwhile do not match this watcher
  }
  if (state.expired || state.cursor < first_) return Expire(state);
  Watcher::Batch batch;
  const uint64_t scan_end = std::min(NextNumber(), state.cursor + kMaxScan);
  for (; state.cursor < scan_end && batch.changes.size() < max_changes; ++state.cursor) {
    const Slot& slot = SlotAt(state.cursor);
    if (Concerns(state, slot)) batch.changes.push_back(slot.change);
  }
  batch.more = state.cursor < NextNumber();
  if (batch.more) {
    // A revision is delivered only when all of its changes are.
    state.delivered = std::max(state.delivered, At(state.cursor).revision - 1);
  } else {
    state.delivered = std::max(state.delivered, revision_);
    batch.ended = ended_;
    if (!ended_) Wait(state);
  }
  batch.revision = state.delivered;
  return batch;
}

Status ChangeLog::Expire(State& state) {
  if (!state.expired) ++expired_;
  state.expired = true;
  return Status::Expired("too old resource version: " + std::to_string(state.delivered) + " (" +
                         std::to_string(oldest_) + ")");
}

void ChangeLog::Wait(State& state) {
  state.waiting = true;
  state.place = state.group->waiting.size();
  state.group->waiting.push_back(&state);
}

void ChangeLog::StopWaiting(State& state) {
  std::vector<State*>& waiting = state.group->waiting;
  waiting[state.place] = waiting.back();
  waiting[state.place]->place = state.place;
  waiting.pop_back();
  state.waiting = false;
  state.cursor = NextNumber();
}

uint64_t ChangeLog::After(Revision revision) const {
  const auto at = std::upper_bound(
      slots_.begin(), slots_.end(), revision,
      [](Revision revision, const Slot& slot) { return revision < slot.change->revision; });
  return first_ + static_cast<uint64_t>(at - slots_.begin());
}

std::optional<std::vector<ChangePtr>> ChangeLog::Since(Revision revision) const {
  MutexLock lock(mu_);
  if (revision < oldest_) return std::nullopt;
  std::vector<ChangePtr> changes;
  for (uint64_t number = After(revision); number < NextNumber(); ++number) {
    changes.push_back(slots_[static_cast<size_t>(number - first_)].change);
  }
  return changes;
}

bool ChangeLog::Has(std::string_view key, Revision revision) const {
  MutexLock lock(mu_);
  for (uint64_t number = After(revision - 1); number < NextNumber(); ++number) {
    const Change& change = At(number);
    if (change.revision != revision) return false;
    if (change.entry->key() == key) return true;
  }
  return false;
}

size_t ChangeLog::capacity() const {
  MutexLock lock(mu_);
  return capacity_;
}
size_t ChangeLog::bytes() const {
  MutexLock lock(mu_);
  return bytes_;
}
size_t ChangeLog::watchers() const {
  MutexLock lock(mu_);
  return watchers_.size();
}
Revision ChangeLog::oldest() const {
  MutexLock lock(mu_);
  return oldest_;
}
uint64_t ChangeLog::expired() const {
  MutexLock lock(mu_);
  return expired_;
}

}  // namespace cox::storage
