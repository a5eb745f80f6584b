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

// An API server with all that it stands on, as its flags say: alone, or as a part of `up`.
//
// Lifetime: serves from Start on; Drain, then destroy. `metrics` outlives it.
class ComposedApiServer {
 public:
  static Result<std::unique_ptr<ComposedApiServer>> Start(const Context& ctx, const Flags& flags,
                                                          MetricsRegistry& metrics);
  explicit ComposedApiServer(const Context& ctx) : ctx_(ctx) {}  // use Start()
  ~ComposedApiServer();

  apiserver::ApiServer& server() { return *server_; }
  // Lets requests in flight end, those that last too long not.
  void Drain();

 private:
  const Context ctx_;
  std::chrono::seconds shutdown_delay_{0};
  // In the order in which one stands on the other.
  OpenedStores stores_;
  std::unique_ptr<EncryptionAtRest> encryption_;
  std::unique_ptr<WatchedFile<net::CertificatePair>> serving_certificate_;
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace cox::cmd
