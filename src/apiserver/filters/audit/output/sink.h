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

// Where audit events go. An output writes events down or sends them; a sink decides who waits for
// that.
namespace cox::apiserver {

// What became of some events.
struct AuditOutcome {
  size_t lost = 0;
  Status status;  // why, of the last that were
};

// Threads: Write may be called concurrently and blocks.
class AuditOutput {
 public:
  virtual ~AuditOutput() = default;
  // "log", "webhook".
  virtual std::string_view name() const = 0;
  // Ends when `ctx` does.
  virtual AuditOutcome Write(const Context& ctx, std::span<const AuditEventPtr> events) = 0;
};

// Threads: all methods may be called concurrently; Stop once.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // Whether Process waits for a disk or another server.
  virtual bool blocks() const = 0;
  // False: the event is lost, and the request that it announces must not go on.
  virtual bool Process(const AuditEventPtr& event) = 0;
  // Delivers what waits, for at most `limit`; what is left then is counted as lost.
  virtual void Stop(std::chrono::nanoseconds limit) = 0;
};

// Of AuditMode::kBlocking and kBlockingStrict.
std::unique_ptr<AuditSink> NewDirectSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
                                         bool strict, AuditMetrics& metrics);

// Of AuditMode::kBatch: a bounded buffer, emptied by `senders` threads that each write one batch at
// a time. A dead output costs the buffer and one batch for each of them, and delays nobody.
std::unique_ptr<AuditSink> NewBufferedSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
                                           const AuditBatchOptions& options, size_t senders,
                                           AuditMetrics& metrics);

// Counts and logs what `output` lost.
void ReportLost(const Context& ctx, std::string_view output, const AuditOutcome& outcome,
                AuditMetrics& metrics);

// Cuts events that are too large before `inner` has them, and splits batches. Those that are too
// large even without their objects are counted here, as lost by "truncate".
std::unique_ptr<AuditOutput> NewTruncatingOutput(std::unique_ptr<AuditOutput> inner,
                                                 const AuditTruncateOptions& options,
                                                 AuditMetrics& metrics);

}  // namespace cox::apiserver
