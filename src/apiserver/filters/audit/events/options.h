// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cox::apiserver {

// Whether a request waits until its events are written.
enum class AuditMode : uint8_t {
  kBatch,           // never: events are buffered, and dropped if the buffer is full
  kBlocking,        // waits; an event that could not be written is counted
  kBlockingStrict,  // the same, and a request whose first event was not written fails
};

struct AuditBatchOptions {
  size_t buffer_size = 10'000;  // events; further events are dropped
  size_t max_batch = 1;
  std::chrono::milliseconds max_wait{0};  // for a full batch; 0: send immediately
  bool throttle = false;
  double qps = 0;  // batches per second
  size_t burst = 0;
};

struct AuditTruncateOptions {
  bool enabled = false;
  size_t max_event = size_t{100} * 1024;        // bytes
  size_t max_batch = size_t{10} * 1024 * 1024;  // bytes
};

struct AuditLogOptions {
  std::string path;        // "-": standard output; empty: no log
  int64_t max_size = 0;    // megabytes of one file; 0: 100
  int64_t max_age = 0;     // days to keep rotated files; 0: forever
  int64_t max_backup = 0;  // number of rotated files to keep; 0: all
  bool compress = false;   // rotated files
  bool legacy = false;     // --audit-log-format=legacy
  AuditMode mode = AuditMode::kBlocking;
  AuditBatchOptions batch;
  AuditTruncateOptions truncate;
};

struct AuditWebhookOptions {
  std::string kubeconfig;  // the file's path; empty: no webhook
  std::chrono::milliseconds initial_backoff{10'000};
  AuditMode mode = AuditMode::kBatch;
  AuditBatchOptions batch{.max_batch = 400,
                          .max_wait = std::chrono::seconds(30),
                          .throttle = true,
                          .qps = 10,
                          .burst = 15};
  AuditTruncateOptions truncate;
};

// The audit flags: the policy and the backends.
struct AuditOptions {
  std::string policy;  // contents of --audit-policy-file; empty: no auditing
  AuditLogOptions log;
  AuditWebhookOptions webhook;
};

}  // namespace cox::apiserver
