// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/server/server.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "base/watched_file.h"
#include "cmd/apiserver/encryption.h"
#include "cmd/apiserver/stores.h"
#include "net/tls.h"

namespace cox::cmd {

// An API server with its stores, encryption and certificates, built from flags: as a separate
// program or as a part of `up`.
//
// Lifetime: serves from Start; call Drain before destruction. `metrics` outlives it.
class ComposedApiServer {
 public:
  static Result<std::unique_ptr<ComposedApiServer>> Start(
      const Context& ctx, const Flags& flags, MetricsRegistry& metrics,
      const apiserver::ComponentPorts& components = {});
  explicit ComposedApiServer(const Context& ctx) : ctx_(ctx) {}  // use Start()
  ~ComposedApiServer();

  apiserver::ApiServer& server() { return *server_; }
  // Waits for requests in flight, up to a time limit.
  void Drain();

 private:
  const Context ctx_;
  std::chrono::seconds shutdown_delay_{0};
  // In dependency order: later members use earlier ones.
  OpenedStores stores_;
  std::unique_ptr<EncryptionAtRest> encryption_;
  std::unique_ptr<WatchedFile<net::CertificatePair>> serving_certificate_;
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace cox::cmd
