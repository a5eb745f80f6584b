// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "apiserver/filters/audit/output/sink.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "base/token_bucket.h"

namespace cox::apiserver {
namespace {

// Events with bodies can be large, so the number of events alone does not bound the memory.
constexpr size_t kMaxBufferedBytes = size_t{64} * 1024 * 1024;

class BufferedSink final : public AuditSink {
 public:
  BufferedSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
               const AuditBatchOptions& options, size_t senders, AuditMetrics& metrics)
      : options_(options),
        output_(std::move(output)),
        metrics_(metrics),
        clock_(ctx.clock()),
        scope_(ctx, "audit") {
    if (options.throttle && options.qps > 0) {
      throttle_.emplace(options.qps, static_cast<double>(std::max<size_t>(options.burst, 1)));
    }
    for (size_t i = 0; i < senders; ++i) {
      const Status started =
          scope_.Go("audit-" + std::string(output_->name()), [this](Context& own) { Run(own); });
      if (!started.ok()) break;  // fewer senders are slower, but correct
    }
  }
  ~BufferedSink() override {
    scope_.Stop();
    scope_.Wait();
  }

  bool blocks() const override { return false; }

  bool Process(const AuditEventPtr& event) override {
    const size_t size = event->line.size();
    {
      MutexLock lock(mu_);
      if (!stopping_ && queue_.size() < options_.buffer_size &&
          bytes_ + size <= kMaxBufferedBytes) {
        queue_.push_back({event, clock_.Monotonic()});
        bytes_ += size;
        // A sender waits until the oldest event is due, so only a new oldest event or a full batch
        // must wake one.
        if (queue_.size() == 1 || queue_.size() % options_.max_batch == 0) changed_.NotifyOne();
        return true;
      }
    }
    metrics_.CountLost("buffered", 1);
    return true;
  }

  void Stop(std::chrono::nanoseconds limit) override {
    {
      MutexLock lock(mu_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    (void)scope_.Wait(Context(clock_).WithTimeout(limit));
    scope_.Stop();
    scope_.Wait();
    MutexLock lock(mu_);
    if (!queue_.empty()) metrics_.CountLost("buffered", queue_.size());
    queue_.clear();
    bytes_ = 0;
  }

 private:
  struct Waiting {
    AuditEventPtr event;
    Clock::SteadyTime since;
  };

  // A sender thread: writes batches until the sink is stopped and the buffer is empty.
  void Run(Context& ctx) {
    for (std::vector<AuditEventPtr> batch = Next(ctx); !batch.empty(); batch = Next(ctx)) {
      ReportLost(ctx, output_->name(), output_->Write(ctx, batch), metrics_);
    }
  }

  // Waits for a batch that is full or old enough. Empty at shutdown.
  std::vector<AuditEventPtr> Next(const Context& ctx) {
    MutexLock lock(mu_);
    while (!ctx.Done()) {
      const Clock::SteadyTime now = clock_.Monotonic();
      Clock::SteadyTime next = Clock::kNever;
      if (!queue_.empty()) {
        next = queue_.front().since + options_.max_wait;
        if (stopping_ || queue_.size() >= options_.max_batch || now >= next) {
          // Batches are not throttled during shutdown.
          const Clock::Duration wait =
              stopping_ || !throttle_ ? Clock::Duration::zero() : throttle_->Take(now);
          if (wait == Clock::Duration::zero()) return Take();
          next = now + wait;
        }
      } else if (stopping_) {
        break;
      }
      changed_.WaitUntil(mu_, clock_, next, ctx.token());
    }
    return {};
  }

  std::vector<AuditEventPtr> Take() COX_REQUIRES(mu_) {
    std::vector<AuditEventPtr> batch;
    while (!queue_.empty() && batch.size() < options_.max_batch) {
      bytes_ -= queue_.front().event->line.size();
      batch.push_back(std::move(queue_.front().event));
      queue_.pop_front();
    }
    // The remaining events may be due already; wake another sender.
    if (!queue_.empty()) changed_.NotifyOne();
    return batch;
  }

  const AuditBatchOptions options_;
  const std::unique_ptr<AuditOutput> output_;
  AuditMetrics& metrics_;
  Clock& clock_;
  Mutex mu_;
  CondVar changed_;
  std::deque<Waiting> queue_ COX_GUARDED_BY(mu_);
  size_t bytes_ COX_GUARDED_BY(mu_) = 0;
  bool stopping_ COX_GUARDED_BY(mu_) = false;
  std::optional<TokenBucket> throttle_ COX_GUARDED_BY(mu_);  // of batches; none: no limit
  Scope scope_;
};

}  // namespace

std::unique_ptr<AuditSink> NewBufferedSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
                                           const AuditBatchOptions& options, size_t senders,
                                           AuditMetrics& metrics) {
  return std::make_unique<BufferedSink>(ctx, std::move(output), options, senders, metrics);
}

}  // namespace cox::apiserver
