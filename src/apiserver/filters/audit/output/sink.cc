// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/sink.h"

namespace cox::apiserver {
namespace {

class DirectSink final : public AuditSink {
 public:
  DirectSink(const Context& ctx, std::unique_ptr<AuditOutput> output, bool strict,
             AuditMetrics& metrics)
      : ctx_(ctx.Child()), strict_(strict), output_(std::move(output)), metrics_(metrics) {}

  bool blocks() const override { return true; }

  bool Process(const AuditEventPtr& event) override {
    const AuditOutcome outcome = output_->Write(ctx_, std::span(&event, 1));
    if (outcome.lost == 0) return true;
    ReportLost(ctx_, output_->name(), outcome, metrics_);
    return !strict_;
  }

  // Nothing is buffered: Process writes synchronously.
  void Stop(std::chrono::nanoseconds) override { ctx_.Stop(); }

 private:
  Context ctx_;
  const bool strict_;
  const std::unique_ptr<AuditOutput> output_;
  AuditMetrics& metrics_;
};

class TruncatingOutput final : public AuditOutput {
 public:
  TruncatingOutput(std::unique_ptr<AuditOutput> inner, const AuditTruncateOptions& options,
                   AuditMetrics& metrics)
      : inner_(std::move(inner)), options_(options), metrics_(metrics) {}

  std::string_view name() const override { return inner_->name(); }

  AuditOutcome Write(const Context& ctx, std::span<const AuditEventPtr> events) override {
    AuditOutcome result;
    std::vector<AuditEventPtr> batch;
    size_t bytes = 0;
    auto send = [&] {
      if (batch.empty()) return;
      // A failed batch does not prevent the following ones.
      AuditOutcome some = inner_->Write(ctx, batch);
      if (some.lost > 0) result = {result.lost + some.lost, std::move(some.status)};
      batch.clear();
      bytes = 0;
    };
    for (const AuditEventPtr& event : events) {
      AuditEventPtr cut = TruncatedEvent(event, options_.max_event);
      if (cut == nullptr) {
        metrics_.CountLost("truncate", 1);
        continue;
      }
      if (bytes + cut->line.size() > options_.max_batch) send();
      bytes += cut->line.size();
      batch.push_back(std::move(cut));
    }
    send();
    return result;
  }

 private:
  const std::unique_ptr<AuditOutput> inner_;
  const AuditTruncateOptions options_;
  AuditMetrics& metrics_;
};

}  // namespace

void ReportLost(const Context& ctx, std::string_view output, const AuditOutcome& outcome,
                AuditMetrics& metrics) {
  if (outcome.lost == 0) return;
  metrics.CountLost(output, outcome.lost);
  COX_ERROR(ctx.log(), outcome.status, "Could not deliver audit events", {"plugin", output},
            {"events", outcome.lost});
}

std::unique_ptr<AuditSink> NewDirectSink(const Context& ctx, std::unique_ptr<AuditOutput> output,
                                         bool strict, AuditMetrics& metrics) {
  return std::make_unique<DirectSink>(ctx, std::move(output), strict, metrics);
}

std::unique_ptr<AuditOutput> NewTruncatingOutput(std::unique_ptr<AuditOutput> inner,
                                                 const AuditTruncateOptions& options,
                                                 AuditMetrics& metrics) {
  return std::make_unique<TruncatingOutput>(std::move(inner), options, metrics);
}

}  // namespace cox::apiserver
