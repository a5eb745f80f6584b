// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/endpoints/health/health.h"
#include "base/context.h"
#include "base/doorbell.h"
#include "base/file_watch.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "storage/encryption/encryption.h"

namespace cox::cmd {

// Encryption at rest as the flags say, taken anew when its file changes if they say so.
//
// Without --encryption-provider-config it does nothing and costs nothing.
// Threads: all methods may be called concurrently. Ownership: outlives the stores it gives out.
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
  // `taken` is what the file said when it was taken.
  Status WatchFile(const Context& ctx, const std::string& path, const std::string& taken);
  // Takes what the file says; where a key service is not ready yet, until it is.
  void Reload(Context& ctx);

  std::unique_ptr<storage::Encryption> encryption_;  // null: nothing is encrypted
  Doorbell bell_;
  Mutex mu_;
  std::string text_ COX_GUARDED_BY(mu_);  // of the file, not taken yet
  std::unique_ptr<FileWatch> watch_;
  Scope scope_;
};

}  // namespace cox::cmd
