// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/endpoints/health/health.h"
#include "base/context.h"
#include "base/file_watch.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/notification.h"
#include "base/scope.h"
#include "storage/encryption/encryption.h"

namespace cox::cmd {

// Encryption at rest as configured by the flags, with an optional reload when the file changes.
//
// Without --encryption-provider-config, stores are passed through unchanged.
//
// Threads: all methods may be called concurrently.
// Ownership: outlives the stores that it returns.
class EncryptionAtRest {
 public:
  static Result<std::unique_ptr<EncryptionAtRest>> Open(const Context& ctx, const Flags& flags,
                                                        MetricsRegistry& metrics);
  explicit EncryptionAtRest(const Context& ctx) : scope_(ctx, "encryption at rest") {}
  ~EncryptionAtRest();

  storage::Store& StoreOf(storage::Store& under, std::string_view group,
                          std::string_view resource) const;
  std::vector<apiserver::HealthCheck> Checks() const;

 private:
  // `taken` is the content of the file that was applied.
  Status WatchFile(const Context& ctx, const std::string& path, const std::string& taken);
  // Applies the content of the file; retries while a KMS plugin is not ready.
  void Reload(Context& ctx);

  std::unique_ptr<storage::Encryption> encryption_;  // null: no encryption
  Notification notification_;
  Mutex mu_;
  std::string text_ COX_GUARDED_BY(mu_);  // new content of the file, not applied yet
  std::unique_ptr<FileWatch> watch_;
  Scope scope_;
};

}  // namespace cox::cmd
