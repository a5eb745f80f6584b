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

// Creates audit records for requests according to the policy, and passes their events to the sinks.
//
//   chain "audit"    Begin        policy decides, the record is made   (loop)
//   chain "audit"    Received     event RequestReceived                (fiber or worker)
//   handlers         SetRequest … the level decides what is kept
//   Call             Complete     event ResponseComplete, then the response is sent
//
// Guarantees: In blocking modes, the event is in the log before the response is sent. Event loops
//   never wait for a webhook. In the blocking modes, requests in fibers write the log file on the
//   thread of their event loop (ADR 22).
// Threads: All methods may be called concurrently. Stop is called once, after the last record has
//   ended.
class Auditor {
 public:
  // Null if auditing is disabled, because there is no policy or no backend. Errors: BadRequest for
  // an invalid policy or kubeconfig; the cause if the log cannot be opened.
  static Result<std::unique_ptr<Auditor>> Create(const Context& ctx, const AuditOptions& options,
                                                 MetricsRegistry& metrics);
  // For tests and benchmarks: with custom sinks.
  Auditor(const Context& ctx, AuditPolicy policy, std::vector<std::unique_ptr<AuditSink>> sinks,
          MetricsRegistry& metrics, bool legacy = false);
  ~Auditor();

  // Moves work from an event loop to a worker; returns false if the workers have stopped. Must be
  // set before the first record. Without it, work runs on the calling thread.
  using Offload = std::function<bool(std::function<void()>)>;
  void set_offload(Offload offload) { offload_ = std::move(offload); }

  // Null if the policy does not audit this request.
  std::unique_ptr<AuditRecord> Begin(const AuditSubject& subject);

  // Whether Deliver may block. If not, events may be delivered on event loops.
  bool blocks() const { return blocks_; }
  bool legacy() const { return legacy_; }
  Clock& clock() const { return ctx_.clock(); }

  // False: the request must not be executed. May block if blocks().
  bool Deliver(const AuditEventPtr& event);
  // The same without blocking; delivery errors do not affect the request.
  void DeliverFromLoop(AuditEventPtr event);
  void CountRejected() { metrics_.CountRejected(); }
  // Delivers buffered events, for a bounded time.
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
