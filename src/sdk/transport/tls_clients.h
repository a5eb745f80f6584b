// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/watched_file.h"
#include "coxswain/config.h"
#include "net/client.h"
#include "sdk/transport/exec_credential.h"

namespace cox::sdk {

// The HTTP client for the CA and client certificate of now. When one of them changes, the next
// request gets a client of its own; the one before lives as long as a request or stream holds it.
//
// Threads: all methods may be called concurrently.
// Errors: BadRequest for PEM that does not parse, NotFound for files that cannot be read. Files
// that
//   become bad later change nothing.
class TlsClients {
 public:
  // `options`: of the client, without what `config` says of TLS.
  static Result<std::unique_ptr<TlsClients>> Open(const Context& ctx, const Config& config,
                                                  net::ClientOptions options);

  // `plugin`, if it has a certificate, brings that instead of the configured one. May be null.
  Result<std::shared_ptr<net::Client>> For(const ExecCredentials::Ptr& plugin);
  // What such a client is made of, for connections of other kinds.
  net::ClientOptions OptionsFor(const ExecCredentials::Ptr& plugin) const {
    return OptionsFor(*Current(), plugin);
  }

 private:
  // What files and configuration say, whole.
  using Material = net::ClientTls;
  using MaterialPtr = std::shared_ptr<const Material>;
  struct Private {};

 public:
  // For Open.
  TlsClients(Private, const Context& ctx, net::ClientOptions options)
      : context_(ctx), options_(std::move(options)) {}

 private:
  net::ClientOptions OptionsFor(const Material& material, const ExecCredentials::Ptr& plugin) const;
  MaterialPtr Current() const { return files_ != nullptr ? files_->Current() : fixed_; }

  const Context context_;
  const net::ClientOptions options_;
  MaterialPtr fixed_;  // where no file is named
  std::unique_ptr<WatchedFile<Material>> files_;
  Mutex mu_;
  // What client_ was made of.
  MaterialPtr material_ COX_GUARDED_BY(mu_);
  std::string certificate_pem_ COX_GUARDED_BY(mu_);  // of the plugin
  std::shared_ptr<net::Client> client_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
