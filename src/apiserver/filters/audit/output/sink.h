// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include "apiserver/filters/audit/events/event.h"
#include "apiserver/filters/audit/events/metrics.h"
#include "apiserver/filters/audit/events/options.h"
#include "base/context.h"

// The audit backends. An output writes or sends events; a sink decides whether requests wait for
// it.
namespace cox::apiserver {

// The result of writing a batch of events.
struct AuditOutcome {
  size_t lost = 0;
  Status status;  // the error of the last lost events
};

// Threads: Write may be called concurrently and blocks.
class AuditOutput {
 public:
  virtual ~AuditOutput() = default;
  // "log", "webhook".
  virtual std::string_view name() const = 0;
  // Returns early if `ctx` is cancelled.
  virtual AuditOutcome Write(const Context& ctx, std::span<const AuditEventPtr> events) = 0;
};

// Threads: All methods may be called concurrently; Stop once.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // Whether Process may block on a disk or another server.
  virtual bool blocks() const = 0;
  // False: the event is lost, and the request must not be executed.
  virtual bool Process(const AuditEventPtr& event) = 0;
  // Delivers buffered events for at most `limit`; the rest is counted as lost.
  virtual void Stop(std::chrono::nanoseconds limit) = 0;
};

// For AuditMode::kBlocking and kBlockingStrict.
std::unique_ptr<AuditSink> NewDirectSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
                                         bool strict, AuditMetrics& metrics);

// For AuditMode::kBatch: a bounded buffer, drained by `senders` threads that each write one batch
// at a time. An output that hangs blocks only these threads, never a request.
std::unique_ptr<AuditSink> NewBufferedSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
                                           const AuditBatchOptions& options, size_t senders,
                                           AuditMetrics& metrics);

// Counts and logs lost events.
void ReportLost(const Context& ctx, std::string_view output, const AuditOutcome& outcome,
                AuditMetrics& metrics);

// Truncates events that are too large and splits batches before passing them to `inner`. Events
// that are too large even without their objects are dropped and counted for "truncate".
std::unique_ptr<AuditOutput> NewTruncatingOutput(std::unique_ptr<AuditOutput> inner,
                                                 const AuditTruncateOptions& options,
                                                 AuditMetrics& metrics);

}  // namespace cox::apiserver
