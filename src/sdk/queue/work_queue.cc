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

// Keys that wait for their time, the earliest first.
using Waiting = std::multimap<Clock::SteadyTime, Entry*>;

// What is known of one key. It is there while the key is ready, waits for a time, or is worked on;
// working and waiting may be both.
struct Entry {
  const ObjectKey* key = nullptr;  // of the table's node
  int priority = kNormalPriority;  // of the next time it is handed out
  bool running = false;
  bool again = false;         // added while it was running
  Bucket* ready = nullptr;    // where it is ready
  bool waits = false;         // then `wait` is valid
  Waiting::iterator wait{};   // in waiting_
  Clock::SteadyTime since{};  // ready, or running, for so long
  Entry* before = nullptr;    // neighbours in `ready`, or among those that run
  Entry* after = nullptr;
};

// A list of entries through their own pointers, so that no step of a key allocates.
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

// Priorities that were used stay in the map, unless they are strangely many.
constexpr size_t kKeptBuckets = 16;
// Nodes of the table that are kept for the next key: in a steady flow none is allocated.
constexpr size_t kKeptNodes = 64;

// Workers that find nothing block. One of them, the timekeeper, does so until the first waiting
// key is due; the others until they are woken. Who takes a key or gives up, and leaves something to
// do behind, wakes the next: so a wake-up that meets a worker which is just leaving is not lost.
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
    if (entry.ready != nullptr || entry.again) return;  // that is earlier
    if (entry.waits && entry.wait->first <= due) return;
    StopWaiting(entry);
    entry.wait = waiting_.emplace(due, &entry);
    entry.waits = true;
    // Somebody has to wait for less long, or to begin waiting for it.
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

  // The key's entry, for a next time of at least that priority.
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

  // Hands the key out when its turn comes, or again after it has run. True if it became ready.
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

  // Those whose time has come stand before what is added from now on.
  void TakeDue() COX_REQUIRES(mu_) {
    if (waiting_.empty()) return;
    const Clock::SteadyTime now = clock_.Monotonic();
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
      Entry& entry = *waiting_.begin()->second;
      StopWaiting(entry);
      MakeReady(entry);
    }
  }

  // REQUIRES: something is ready.
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
  // Last: asks for Running() until it is gone.
  std::unique_ptr<sdk::QueueMetrics> metrics_;
};

}  // namespace

std::unique_ptr<WorkQueue> WorkQueue::Create(Clock& clock, WorkQueueOptions options) {
  return std::make_unique<Queue>(clock, std::move(options));
}

}  // namespace cox
