// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/log_output.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "apiserver/filters/audit/output/log_file.h"
#include "base/mutex.h"

namespace cox::apiserver {
namespace {

// Upstream's default for --audit-log-maxsize=0.
constexpr int64_t kDefaultMegabytes = 100;
constexpr uint64_t kMegabyte = uint64_t{1024} * 1024;
// The maximum number of waiting writers that one thread serves.
constexpr size_t kMaxGroup = 64;

class LogOutput final : public AuditOutput {
 public:
  LogOutput(std::unique_ptr<LogFile> file, bool legacy) : legacy_(legacy), file_(std::move(file)) {}

  std::string_view name() const override { return "log"; }

  AuditOutcome Write(const Context&, std::span<const AuditEventPtr> events) override {
    Turn mine{.events = events, .outcome = {}, .come = {}};
    MutexLock lock(mu_);
    queue_.push_back(&mine);
    mine.come.Wait(mu_, [&]() COX_REQUIRES(mu_) { return mine.done || queue_.front() == &mine; });
    if (mine.done) return std::move(mine.outcome);
    const std::vector<Turn*> group(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(std::min(
                                                                        queue_.size(), kMaxGroup)));
    lock.Unlock();
    for (Turn* turn : group) WriteTurn(*turn);
    lock.Lock();
    for (Turn* turn : group) {
      queue_.pop_front();
      if (turn == &mine) continue;
      turn->done = true;
      // The writer cannot return, and destroy its Turn, before this lock is released.
      turn->come.NotifyOne();
    }
    if (!queue_.empty()) queue_.front()->come.NotifyOne();
    return std::move(mine.outcome);
  }

 private:
  // A waiting writer.
  struct Turn {
    std::span<const AuditEventPtr> events;
    AuditOutcome outcome;
    CondVar come;
    bool done = false;
  };

  // REQUIRES: the caller's turn is the first in the queue, which makes it the only writer.
  void WriteTurn(Turn& turn) {
    for (const AuditEventPtr& event : turn.events) {
      Status status = file_->Append(legacy_ ? event->legacy : event->line);
      if (!status.ok()) turn.outcome = {turn.outcome.lost + 1, std::move(status)};
    }
  }

  const bool legacy_;
  const std::unique_ptr<LogFile> file_;
  Mutex mu_;
  std::deque<Turn*> queue_ COX_GUARDED_BY(mu_);
};

}  // namespace

Result<std::unique_ptr<AuditOutput>> NewLogOutput(const Context& ctx,
                                                  const AuditLogOptions& options) {
  const int64_t megabytes = options.max_size > 0 ? options.max_size : kDefaultMegabytes;
  COX_ASSIGN_OR_RETURN(
      std::unique_ptr<LogFile> file,
      LogFile::Open(ctx, {.path = options.path,
                          .max_bytes = static_cast<uint64_t>(megabytes) * kMegabyte,
                          .max_age_days = options.max_age,
                          .max_backups = options.max_backup,
                          .compress = options.compress}));
  return std::unique_ptr<AuditOutput>(std::make_unique<LogOutput>(std::move(file), options.legacy));
}

}  // namespace cox::apiserver
