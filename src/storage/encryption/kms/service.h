// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "storage/encryption/kms/messages.h"
#include "storage/encryption/transform/metrics.h"

namespace cox::storage::kms {

// A KMS plugin, which encrypts and decrypts local keys with a remote key.
//
// Threads: all methods may be called concurrently; they block until `ctx` ends at the latest.
// Errors: Unavailable if the plugin did not respond; a retry may succeed. Internal for errors that
//   the plugin returned. Texts are those of gRPC: "rpc error: code = … desc = …".
class Service {
 public:
  virtual ~Service() = default;
  virtual Result<PluginStatus> Status(const Context& ctx) = 0;
  virtual Result<WrappedKey> Encrypt(const Context& ctx, const KeyBytes& key,
                                     std::string_view uid) = 0;
  virtual Result<KeyBytes> Decrypt(const Context& ctx, const WrappedKey& key,
                                   std::string_view uid) = 0;
};

struct ServiceOptions {
  std::string name;
  std::string endpoint;                      // "unix:///run/kms.sock", "unix:///@abstract"
  std::chrono::milliseconds timeout{3'000};  // of each call
};

// A client of a KMS v2 plugin, over gRPC on a Unix socket. Connects on demand, and reconnects after
// the plugin was restarted. `metrics` may be null; they outlive it.
// Errors: BadRequest if the endpoint is invalid.
Result<std::unique_ptr<Service>> Connect(const Context& ctx, const ServiceOptions& options,
                                         EncryptionMetrics* metrics);

// The path of an endpoint "unix://…", with a leading '@' for an abstract socket. Errors:
// BadRequest.
Result<std::string> SocketPath(std::string_view endpoint);

}  // namespace cox::storage::kms
