// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/auditor.h"

#include "apiserver/filters/audit/output/log_output.h"
#include "apiserver/filters/audit/output/webhook_output.h"

namespace cox::apiserver {
namespace {

// The time limit for flushing buffered events at shutdown.
constexpr std::chrono::seconds kFlushLimit{5};
// The number of concurrent batches to a webhook. A log file has one writer.
constexpr size_t kWebhookSenders = 4;
constexpr size_t kLogSenders = 1;

std::unique_ptr<AuditSink> MakeSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
                                    AuditMode mode, const AuditBatchOptions& batch,
                                    const AuditTruncateOptions& truncate, size_t senders,
                                    AuditMetrics& metrics) {
  if (truncate.enabled) output = NewTruncatingOutput(std::move(output), truncate, metrics);
  if (mode == AuditMode::kBatch) {
    return NewBufferedSink(ctx, std::move(output), batch, senders, metrics);
  }
  return NewDirectSink(ctx, std::move(output), mode == AuditMode::kBlockingStrict, metrics);
}

// An event to be delivered by a worker. If the worker's queue is discarded, the destructor delivers
// it.
class Pending {
 public:
  Pending(Auditor& auditor, AuditEventPtr event) : auditor_(auditor), event_(std::move(event)) {}
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() { Deliver(); }
  void Deliver() {
    if (AuditEventPtr event = std::exchange(event_, nullptr)) auditor_.Deliver(event);
  }

 private:
  Auditor& auditor_;
  AuditEventPtr event_;
};

}  // namespace

Result<std::unique_ptr<Auditor>> Auditor::Create(const Context& ctx, const AuditOptions& options,
                                                 MetricsRegistry& metrics) {
  if (options.policy.empty() || (options.log.path.empty() && options.webhook.kubeconfig.empty())) {
    return std::unique_ptr<Auditor>();
  }
  Result<AuditPolicy> policy = AuditPolicy::Parse(options.policy);
  if (!policy.ok()) return policy.status().WithContext("audit policy");
  auto auditor =
      std::make_unique<Auditor>(ctx, std::move(*policy), std::vector<std::unique_ptr<AuditSink>>(),
                                metrics, options.log.legacy);
  const AuditLogOptions& log = options.log;
  if (!log.path.empty()) {
    COX_ASSIGN_OR_RETURN(std::unique_ptr<AuditOutput> output, NewLogOutput(auditor->ctx_, log));
    auditor->sinks_.push_back(MakeSink(auditor->ctx_, std::move(output), log.mode, log.batch,
                                       log.truncate, kLogSenders, auditor->metrics_));
  }
  const AuditWebhookOptions& webhook = options.webhook;
  if (!webhook.kubeconfig.empty()) {
    COX_ASSIGN_OR_RETURN(std::unique_ptr<AuditOutput> output,
                         NewWebhookOutput(auditor->ctx_, webhook));
    auditor->sinks_.push_back(MakeSink(auditor->ctx_, std::move(output), webhook.mode,
                                       webhook.batch, webhook.truncate, kWebhookSenders,
                                       auditor->metrics_));
  }
  for (const auto& sink : auditor->sinks_) auditor->blocks_ |= sink->blocks();
  return auditor;
}

Auditor::Auditor(const Context& ctx, AuditPolicy policy,
                 std::vector<std::unique_ptr<AuditSink>> sinks, MetricsRegistry& metrics,
                 bool legacy)
    // A separate root context: events are delivered after the rest of the server has been stopped.
    : ctx_(ctx.clock(), ctx.log()),
      policy_(std::move(policy)),
      legacy_(legacy),
      metrics_(metrics),
      sinks_(std::move(sinks)) {
  for (const auto& sink : sinks_) blocks_ |= sink->blocks();
}

Auditor::~Auditor() {
  Stop();
  ctx_.Stop();
}

std::unique_ptr<AuditRecord> Auditor::Begin(const AuditSubject& subject) {
  static const UserInfo kNobody;
  const AuditDecision decision =
      policy_.Decide(subject.user != nullptr ? *subject.user : kNobody, subject.info);
  metrics_.CountLevel(decision.level);
  if (decision.level == AuditLevel::kNone) return nullptr;
  return std::make_unique<AuditEventRecord>(*this, decision, subject);
}

bool Auditor::Deliver(const AuditEventPtr& event) {
  metrics_.CountEvent();
  bool kept = true;
  for (const auto& sink : sinks_) kept &= sink->Process(event);
  return kept;
}

void Auditor::DeliverFromLoop(AuditEventPtr event) {
  if (!blocks_ || offload_ == nullptr) {
    Deliver(event);
    return;
  }
  auto pending = std::make_shared<Pending>(*this, std::move(event));
  // If the work is rejected, the destructor of `pending` delivers the event here.
  (void)offload_([pending] { pending->Deliver(); });
}

void Auditor::Stop() {
  if (std::exchange(stopped_, true)) return;
  for (const auto& sink : sinks_) sink->Stop(kFlushLimit);
}

}  // namespace cox::apiserver
