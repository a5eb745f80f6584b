// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/delta_queue.h"

#include <utility>

namespace cox::sdk {

void DeltaQueue::Push(PendingDelta delta) {
  std::string key(delta.item().ns());
  key.append("/").append(delta.item().name());
  MutexLock lock(mu_);
  if (closed_) return;
  const auto found = last_.find(key);
  if (found != last_.end() && Merge(found->second->delta, delta)) return;
  if (found != last_.end()) last_.erase(found);  // its key refers to the node
  if (delta.initial) ++initial_left_;
  pending_.push_back({std::move(key), std::move(delta)});
  last_.emplace(pending_.back().key, std::prev(pending_.end()));
}

bool DeltaQueue::Merge(PendingDelta& last, PendingDelta& next) {
  using Type = Delta::Type;
  if (next.type == Type::kResync) {
    return last.type != Type::kDeleted;  // the pending delta already covers it
  }
  if (last.type == Type::kDeleted || next.type == Type::kAdded) return false;
  if (next.type == Type::kDeleted && last.type == Type::kAdded) return false;
  // The merged delta counts as an own write only if all its parts are writes of that writer.
  if (last.own_writer != next.own_writer) last.own_writer.clear();
  if (last.type == Type::kResync) last.own_writer.clear();
  last.missed = last.missed || next.missed;
  if (next.type == Type::kDeleted) {
    last.type = Type::kDeleted;
    last.before = std::move(next.before);
    last.after = {};
  } else {
    if (last.type == Type::kResync) {
      last.type = Type::kUpdated;
      last.before = std::move(next.before);
    }
    last.after = std::move(next.after);
  }
  return true;
}

void DeltaQueue::Drain() {
  MutexLock lock(mu_);
  if (draining_) return;
  draining_ = true;
  drainer_ = std::this_thread::get_id();
  while (!closed_ && !pending_.empty()) {
    Nodes current;
    const auto last = last_.find(pending_.front().key);
    if (last->second == pending_.begin()) last_.erase(last);
    current.splice(current.begin(), pending_, pending_.begin());
    const bool initial = current.front().delta.initial;
    lock.Unlock();
    Call(current.front().delta);
    current.clear();  // objects are freed without the lock
    lock.Lock();
    if (initial && initial_left_ > 0 && --initial_left_ == 0) initial_delivered_.NotifyAll();
  }
  draining_ = false;
  idle_.NotifyAll();
}

void DeltaQueue::Call(const PendingDelta& delta) const noexcept {
  handler_({.type = delta.type,
            .before = delta.before.Read(),
            .after = delta.after.Read(),
            .initial = delta.initial,
            .missed = delta.missed,
            .own_writer = delta.own_writer});
}

void DeltaQueue::Close() {
  Nodes dropped;
  MutexLock lock(mu_);
  closed_ = true;
  last_.clear();
  dropped.swap(pending_);
  initial_left_ = 0;
  initial_delivered_.NotifyAll();
  if (draining_ && drainer_ == std::this_thread::get_id()) return;
  idle_.Wait(mu_, [this]() COX_REQUIRES(mu_) { return !draining_; });
}

size_t DeltaQueue::initial_left() const {
  MutexLock lock(mu_);
  return initial_left_;
}

Status DeltaQueue::WaitForInitial(Context& ctx) const {
  MutexLock lock(mu_);
  return ctx.Await(mu_, initial_delivered_,
                   [this]() COX_REQUIRES(mu_) { return initial_left_ == 0; });
}

}  // namespace cox::sdk
