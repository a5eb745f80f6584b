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

// A program that keeps the keys which encrypt our keys, and does so when asked.
//
// Threads: all methods may be called concurrently; they block, no longer than `ctx` lasts.
// Errors: Unavailable when the plugin did not answer: another attempt may help. Internal for what
//   it answered. Texts are as gRPC words them: "rpc error: code = … desc = …".
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

// A plugin that speaks KMS v2 over gRPC on a Unix socket. Connects when it is needed, and again
// after the plugin was restarted. `metrics` may be null; they outlive it.
// BadRequest for an endpoint that is none.
Result<std::unique_ptr<Service>> Connect(const Context& ctx, const ServiceOptions& options,
                                         EncryptionMetrics* metrics);

// The path of an endpoint "unix://…", a leading '@' for an abstract one. BadRequest.
Result<std::string> SocketPath(std::string_view endpoint);

}  // namespace cox::storage::kms
