// SPDX-License-Identifier: Apache-2.0
#include "coxswain/work_queue.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "sdk/queue/queue_metrics.h"

namespace cox {
namespace {

struct Bucket;
struct Entry;

// Delayed keys, the earliest first.
using Waiting = std::multimap<Clock::SteadyTime, Entry*>;

// The state of one key. It exists while the key is ready, delayed or processed; a key may be
// processed and delayed at the same time.
struct Entry {
  const ObjectKey* key = nullptr;  // in the node of the table
  int priority = kNormalPriority;  // for the next Get
  bool running = false;
  bool again = false;         // added while running
  Bucket* ready = nullptr;    // the bucket that contains it
  bool waits = false;         // `wait` is valid
  Waiting::iterator wait{};   // position in waiting_
  Clock::SteadyTime since{};  // start of being ready or running
  Entry* before = nullptr;    // neighbors in `ready` or running_
  Entry* after = nullptr;
};

// An intrusive list, so that no transition of a key allocates memory.
struct Chain {
  Entry* first = nullptr;
  Entry* last = nullptr;

  void Append(Entry& entry) {
    entry.before = last;
    entry.after = nullptr;
    (last == nullptr ? first : last->after) = &entry;
    last = &entry;
  }
  void Remove(Entry& entry) {
    (entry.before == nullptr ? first : entry.before->after) = entry.after;
    (entry.after == nullptr ? last : entry.after->before) = entry.before;
  }
};

// The ready keys of one priority.
struct Bucket {
  Chain keys;
  Gauge* depth = nullptr;
};

// Empty buckets are kept in the map up to this number.
constexpr size_t kKeptBuckets = 16;
// Table nodes kept for reuse, so that a steady flow of keys does not allocate.
constexpr size_t kKeptNodes = 64;

// Idle workers block. One of them, the timekeeper, waits until the first delayed key is due; the
// others wait for a notification. A worker that leaves Get while more work remains wakes the next
// one, so that a notification received by a leaving worker is not lost.
class Queue final : public WorkQueue {
 public:
  Queue(Clock& clock, WorkQueueOptions options)
      : clock_(clock),
        limiter_(options.limiter != nullptr ? std::move(options.limiter)
                                            : DefaultRateLimiter(clock)) {
    if (options.metrics != nullptr) {
      metrics_ = std::make_unique<sdk::QueueMetrics>(*options.metrics, options.name,
                                                     [this] { return Running(); });
    }
  }

  void Add(ObjectKey key, int priority) override {
    MutexLock lock(mu_);
    if (shut_down_) return;
    TakeDue();
    Entry& entry = Find(std::move(key), priority);
    StopWaiting(entry);
    if (MakeReady(entry)) WakeOne();
  }

  void AddAfter(ObjectKey key, Clock::Duration delay, int priority) override {
    if (delay <= Clock::Duration::zero()) return Add(std::move(key), priority);
    const Clock::SteadyTime due = clock_.In(delay);
    MutexLock lock(mu_);
    if (shut_down_) return;
    TakeDue();
    if (metrics_ != nullptr) metrics_->retries.Inc();
    Entry& entry = Find(std::move(key), priority);
    if (entry.ready != nullptr || entry.again) return;  // the existing entry is earlier
    if (entry.waits && entry.wait->first <= due) return;
    StopWaiting(entry);
    entry.wait = waiting_.emplace(due, &entry);
    entry.waits = true;
    // The timekeeper must wait for a shorter time, or a worker must become the timekeeper.
    if (entry.wait == waiting_.begin()) (has_timekeeper_ ? timekeeper_ : idle_).NotifyOne();
  }

  void AddRateLimited(ObjectKey key, int priority) override {
    const Clock::Duration delay = limiter_->When(key);
    AddAfter(std::move(key), delay, priority);
  }
  void Forget(const ObjectKey& key) override { limiter_->Forget(key); }
  int Failures(const ObjectKey& key) const override { return limiter_->Failures(key); }

  std::optional<Item> Get(Context& ctx) override {
    MutexLock lock(mu_);
    std::optional<Item> item;
    while (!ctx.Done()) {
      TakeDue();
      if (ready_ > 0) {
        item = TakeFirst();
        break;
      }
      if (shut_down_) break;
      Block(ctx);
    }
    if (ready_ > 0 || (!waiting_.empty() && !has_timekeeper_)) WakeOne();
    return item;
  }

  void Done(const ObjectKey& key) override {
    MutexLock lock(mu_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.running) return;
    TakeDue();
    Entry& entry = found->second;
    entry.running = false;
    running_.Remove(entry);
    if (metrics_ != nullptr) {
      const Clock::SteadyTime now = clock_.Monotonic();
      metrics_->worked.Observe(Seconds(now - entry.since));
      entry.since = now;
    }
    if (std::exchange(entry.again, false)) {
      Append(entry);
      WakeOne();
    } else if (!entry.waits) {
      Drop(found);
    }
  }

  void ShutDown() override {
    MutexLock lock(mu_);
    shut_down_ = true;
    TakeDue();
    for (const auto& [due, entry] : waiting_) {
      entry->waits = false;
      if (!entry->running) entries_.erase(entries_.find(*entry->key));
    }
    waiting_.clear();
    idle_.NotifyAll();
    timekeeper_.NotifyAll();
  }

  size_t size() const override {
    MutexLock lock(mu_);
    size_t ready = ready_;
    const Clock::SteadyTime now = clock_.Monotonic();
    for (const auto& [due, entry] : waiting_) {
      if (due > now) break;
      if (!entry->running) ++ready;
    }
    return ready;
  }

 private:
  using Table = std::unordered_map<ObjectKey, Entry>;

  static double Seconds(Clock::Duration duration) {
    return std::chrono::duration<double>(duration).count();
  }

  // The key's entry, with at least this priority.
  Entry& Find(ObjectKey key, int priority) COX_REQUIRES(mu_) {
    Table::iterator at;
    bool added = true;
    if (spare_.empty()) {
      std::tie(at, added) = entries_.try_emplace(std::move(key));
    } else if ((at = entries_.find(key)) != entries_.end()) {
      added = false;
    } else {
      Table::node_type node = std::move(spare_.back());
      spare_.pop_back();
      node.key() = std::move(key);
      node.mapped() = Entry();
      at = entries_.insert(std::move(node)).position;
    }
    Entry& entry = at->second;
    if (added) entry.key = &at->first;
    const bool next = entry.ready != nullptr || entry.again || entry.waits;
    if (!next) {
      entry.priority = priority;
    } else if (priority > entry.priority) {
      if (entry.ready != nullptr) Unready(entry);
      entry.priority = priority;
      if (!entry.again && !entry.waits) Append(entry);
    }
    return entry;
  }

  void Drop(Table::iterator at) COX_REQUIRES(mu_) {
    if (spare_.size() < kKeptNodes) {
      spare_.push_back(entries_.extract(at));
    } else {
      entries_.erase(at);
    }
  }

  void StopWaiting(Entry& entry) COX_REQUIRES(mu_) {
    if (!std::exchange(entry.waits, false)) return;
    waiting_.erase(entry.wait);
  }

  // Makes the key ready, or marks it to run again. True if it became ready.
  bool MakeReady(Entry& entry) COX_REQUIRES(mu_) {
    if (entry.ready != nullptr || entry.again) return false;
    if (metrics_ != nullptr) metrics_->adds.Inc();
    if (entry.running) {
      entry.again = true;
      return false;
    }
    if (metrics_ != nullptr) entry.since = clock_.Monotonic();
    Append(entry);
    return true;
  }

  void Append(Entry& entry) COX_REQUIRES(mu_) {
    const auto [at, added] = buckets_.try_emplace(entry.priority);
    Bucket& bucket = at->second;
    if (added && metrics_ != nullptr) bucket.depth = &metrics_->Depth(entry.priority);
    bucket.keys.Append(entry);
    entry.ready = &bucket;
    ++ready_;
    if (bucket.depth != nullptr) bucket.depth->Inc();
  }

  void Unready(Entry& entry) COX_REQUIRES(mu_) {
    Bucket& bucket = *std::exchange(entry.ready, nullptr);
    bucket.keys.Remove(entry);
    --ready_;
    if (bucket.depth != nullptr) bucket.depth->Dec();
  }

  // Makes due keys ready, ahead of keys added later.
  void TakeDue() COX_REQUIRES(mu_) {
    if (waiting_.empty()) return;
    const Clock::SteadyTime now = clock_.Monotonic();
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
      Entry& entry = *waiting_.begin()->second;
      StopWaiting(entry);
      MakeReady(entry);
    }
  }

  // REQUIRES: a key is ready.
  Item TakeFirst() COX_REQUIRES(mu_) {
    auto bucket = buckets_.begin();
    while (bucket->second.keys.first == nullptr) {
      bucket = buckets_.size() > kKeptBuckets ? buckets_.erase(bucket) : std::next(bucket);
    }
    Entry& entry = *bucket->second.keys.first;
    Unready(entry);
    entry.running = true;
    running_.Append(entry);
    if (metrics_ != nullptr) {
      const Clock::SteadyTime now = clock_.Monotonic();
      metrics_->waited.Observe(Seconds(now - entry.since));
      entry.since = now;
    }
    return {*entry.key, entry.priority};
  }

  void Block(const Context& ctx) COX_REQUIRES(mu_) {
    if (!waiting_.empty() && !has_timekeeper_) {
      has_timekeeper_ = true;
      timekeeper_.WaitUntil(mu_, clock_, waiting_.begin()->first, ctx.token());
      has_timekeeper_ = false;
    } else {
      ++idlers_;
      idle_.WaitUntil(mu_, clock_, Clock::kNever, ctx.token());
      --idlers_;
    }
  }

  void WakeOne() COX_REQUIRES(mu_) {
    if (idlers_ > 0) {
      idle_.NotifyOne();
    } else if (has_timekeeper_) {
      timekeeper_.NotifyOne();
    }
  }

  sdk::QueueMetrics::Running Running() const {
    MutexLock lock(mu_);
    sdk::QueueMetrics::Running sum;
    const Clock::SteadyTime now = clock_.Monotonic();
    for (const Entry* entry = running_.first; entry != nullptr; entry = entry->after) {
      const double seconds = Seconds(now - entry->since);
      sum.total += seconds;
      sum.longest = std::max(sum.longest, seconds);
    }
    return sum;
  }

  Clock& clock_;
  const std::unique_ptr<RateLimiter> limiter_;
  mutable Mutex mu_;
  CondVar idle_;
  CondVar timekeeper_;
  bool shut_down_ COX_GUARDED_BY(mu_) = false;
  bool has_timekeeper_ COX_GUARDED_BY(mu_) = false;
  size_t idlers_ COX_GUARDED_BY(mu_) = 0;
  Table entries_ COX_GUARDED_BY(mu_);
  std::vector<Table::node_type> spare_ COX_GUARDED_BY(mu_);
  std::map<int, Bucket, std::greater<>> buckets_ COX_GUARDED_BY(mu_);
  size_t ready_ COX_GUARDED_BY(mu_) = 0;  // in all buckets
  Waiting waiting_ COX_GUARDED_BY(mu_);
  Chain running_ COX_GUARDED_BY(mu_);
  // Last member: it calls Running() until it is destroyed.
  std::unique_ptr<sdk::QueueMetrics> metrics_;
};

}  // namespace

std::unique_ptr<WorkQueue> WorkQueue::Create(Clock& clock, WorkQueueOptions options) {
  return std::make_unique<Queue>(clock, std::move(options));
}

}  // namespace cox
