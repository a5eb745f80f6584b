// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/audit_options.h"

#include "base/file_watch.h"
#include "object/codec/json/text.h"
#include "object/scalar/time.h"

namespace cox::cmd {
namespace {

using apiserver::AuditBatchOptions;
using apiserver::AuditMode;
using apiserver::AuditTruncateOptions;

constexpr int64_t kMaxCount = 1'000'000'000;

Status Wrong(const std::string& name, std::string_view what, const Flags& flags) {
  return Status::BadRequest("--" + name + " must be " + std::string(what) + ", not " +
                            flags.Get(name));
}

Result<size_t> Count(const Flags& flags, const std::string& name, int64_t min) {
  COX_ASSIGN_OR_RETURN(const int64_t count, flags.GetInt(name, min, kMaxCount));
  return static_cast<size_t>(count);
}

Result<std::chrono::milliseconds> Millis(const Flags& flags, const std::string& name) {
  const Result<Duration> duration = Duration::Parse(flags.Get(name));
  if (!duration.ok() || duration->nanos < 0) {
    return Wrong(name, "a duration such as 30s or 1h", flags);
  }
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(duration->nanos));
}

Result<AuditMode> Mode(const Flags& flags, const std::string& name) {
  const std::string mode = flags.Get(name);
  if (mode == "batch") return AuditMode::kBatch;
  if (mode == "blocking") return AuditMode::kBlocking;
  if (mode == "blocking-strict") return AuditMode::kBlockingStrict;
  return Wrong(name, "batch, blocking or blocking-strict", flags);
}

Result<AuditBatchOptions> Batch(const Flags& flags, const std::string& backend) {
  const std::string prefix = backend + "-batch-";
  AuditBatchOptions batch;
  COX_ASSIGN_OR_RETURN(batch.buffer_size, Count(flags, prefix + "buffer-size", 1));
  COX_ASSIGN_OR_RETURN(batch.max_batch, Count(flags, prefix + "max-size", 1));
  COX_ASSIGN_OR_RETURN(batch.max_wait, Millis(flags, prefix + "max-wait"));
  batch.throttle = flags.GetBool(prefix + "throttle-enable");
  COX_ASSIGN_OR_RETURN(batch.burst, Count(flags, prefix + "throttle-burst", 0));
  const std::string qps = prefix + "throttle-qps";
  if (!json::ToDouble(flags.Get(qps), &batch.qps) || batch.qps < 0) {
    return Wrong(qps, "a number that is not negative", flags);
  }
  if (batch.throttle && (batch.qps <= 0 || batch.burst < 1)) {
    return Status::BadRequest("--" + prefix + "throttle-enable needs " + qps + " and " + prefix +
                              "throttle-burst above zero");
  }
  return batch;
}

Result<AuditTruncateOptions> Truncate(const Flags& flags, const std::string& backend) {
  AuditTruncateOptions truncate;
  truncate.enabled = flags.GetBool(backend + "-truncate-enabled");
  COX_ASSIGN_OR_RETURN(truncate.max_event, Count(flags, backend + "-truncate-max-event-size", 1));
  COX_ASSIGN_OR_RETURN(truncate.max_batch, Count(flags, backend + "-truncate-max-batch-size", 1));
  if (truncate.max_batch < truncate.max_event) {
    return Status::BadRequest("--" + backend + "-truncate-max-batch-size must not be below --" +
                              backend + "-truncate-max-event-size");
  }
  return truncate;
}

// Reads the options that both backends share.
template <class Backend>
Status ReadBackend(const Flags& flags, const std::string& backend, Backend& to) {
  COX_ASSIGN_OR_RETURN(to.mode, Mode(flags, backend + "-mode"));
  COX_ASSIGN_OR_RETURN(to.batch, Batch(flags, backend));
  COX_ASSIGN_OR_RETURN(to.truncate, Truncate(flags, backend));
  if (flags.Get(backend + "-version") != "audit.k8s.io/v1") {
    return Wrong(backend + "-version", "audit.k8s.io/v1", flags);
  }
  return {};
}

}  // namespace

Result<apiserver::AuditOptions> AuditFrom(const Flags& flags) {
  apiserver::AuditOptions options;
  if (flags.Has("audit-policy-file")) {
    COX_ASSIGN_OR_RETURN(options.policy, ReadBoundedFile(flags.Get("audit-policy-file")));
    if (options.policy.empty()) {
      return Status::BadRequest("--audit-policy-file " + flags.Get("audit-policy-file") +
                                " is empty");
    }
  }
  apiserver::AuditLogOptions& log = options.log;
  log.path = flags.Get("audit-log-path");
  COX_ASSIGN_OR_RETURN(log.max_age, flags.GetInt("audit-log-maxage", 0, 36'500));
  COX_ASSIGN_OR_RETURN(log.max_backup, flags.GetInt("audit-log-maxbackup", 0, kMaxCount));
  COX_ASSIGN_OR_RETURN(log.max_size, flags.GetInt("audit-log-maxsize", 0, 1 << 20));
  log.compress = flags.GetBool("audit-log-compress");
  const std::string format = flags.Get("audit-log-format");
  if (format != "json" && format != "legacy") {
    return Wrong("audit-log-format", "json or legacy", flags);
  }
  log.legacy = format == "legacy";
  COX_RETURN_IF_ERROR(ReadBackend(flags, "audit-log", log));
  apiserver::AuditWebhookOptions& webhook = options.webhook;
  webhook.kubeconfig = flags.Get("audit-webhook-config-file");
  COX_ASSIGN_OR_RETURN(webhook.initial_backoff, Millis(flags, "audit-webhook-initial-backoff"));
  COX_RETURN_IF_ERROR(ReadBackend(flags, "audit-webhook", webhook));
  return options;
}

}  // namespace cox::cmd
