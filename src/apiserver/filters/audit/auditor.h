// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "apiserver/filters/audit/events/metrics.h"
#include "apiserver/filters/audit/events/options.h"
#include "apiserver/filters/audit/events/policy.h"
#include "apiserver/filters/audit/output/sink.h"
#include "apiserver/filters/audit/record.h"
#include "base/context.h"
#include "base/result.h"

namespace cox::apiserver {

// Writes down who asked for what, and what came of it: makes records of requests as the policy
// says, and passes their events to the sinks.
//
//   chain "audit"    Begin        policy decides, the record is made   (loop)
//   chain "offload"  Received     event RequestReceived                (worker)
//   handlers         SetRequest … the level decides what is kept
//   Call             Complete     event ResponseComplete, then the answer goes out
//
// Guarantees: an answer that was sent has its event in the log, where that is in a blocking mode.
//   Loops never wait for a disk or a webhook.
// Threads: all methods may be called concurrently. Stop is called once, after the last record has
//   ended.
class Auditor {
 public:
  // Null: nothing is audited, because there is no policy or no place to write to. BadRequest for a
  // policy or a kubeconfig that is wrong; the reason where the log cannot be opened.
  static Result<std::unique_ptr<Auditor>> Create(const Context& ctx, const AuditOptions& options,
                                                 MetricsRegistry& metrics);
  // For tests and benchmarks: with sinks of one's own.
  Auditor(const Context& ctx, AuditPolicy policy, std::vector<std::unique_ptr<AuditSink>> sinks,
          MetricsRegistry& metrics, bool legacy = false);
  ~Auditor();

  // Moves work from a loop to where it may block; false: there is no such place any more. Set
  // before the first record; without it, work is done where it comes up.
  using Offload = std::function<bool(std::function<void()>)>;
  void set_offload(Offload offload) { offload_ = std::move(offload); }

  // Null: the policy does not want this request recorded.
  std::unique_ptr<AuditRecord> Begin(const AuditSubject& subject);

  // Whether delivering may block. If not, events may be made on loops.
  bool blocks() const { return blocks_; }
  bool legacy() const { return legacy_; }
  Clock& clock() const { return ctx_.clock(); }

  // False: the request that the event announces must not go on. May block if blocks().
  bool Deliver(const AuditEventPtr& event);
  // The same for events that nobody waits for, without blocking.
  void DeliverFromLoop(AuditEventPtr event);
  void CountRejected() { metrics_.CountRejected(); }
  // Delivers what is buffered, for a bounded time.
  void Stop();

 private:
  Context ctx_;
  const AuditPolicy policy_;
  const bool legacy_;
  AuditMetrics metrics_;
  Offload offload_;
  std::vector<std::unique_ptr<AuditSink>> sinks_;
  bool blocks_ = false;
  bool stopped_ = false;
};

}  // namespace cox::apiserver
