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

// The HTTP client for the current CA and client certificate. After a change, the next request gets
// a new client; the old one exists while a request or stream uses it.
//
// Threads: all methods may be called concurrently.
// Errors: BadRequest for PEM that does not parse, NotFound for unreadable files. Files that become
//   invalid later are ignored.
class TlsClients {
 public:
  // `options`: the client's options without the TLS settings of `config`.
  static Result<std::unique_ptr<TlsClients>> Open(const Context& ctx, const Config& config,
                                                  net::ClientOptions options);

  // A certificate in `plugin` replaces the configured one. `plugin` may be null.
  Result<std::shared_ptr<net::Client>> For(const ExecCredentials::Ptr& plugin);
  // The options of such a client, for other kinds of connections.
  net::ClientOptions OptionsFor(const ExecCredentials::Ptr& plugin) const {
    return OptionsFor(*Current(), plugin);
  }

 private:
  // The complete TLS settings from files and configuration.
  using Material = net::ClientTls;
  using MaterialPtr = std::shared_ptr<const Material>;
  struct Private {};

 public:
  // Used by Open.
  TlsClients(Private, const Context& ctx, net::ClientOptions options)
      : context_(ctx), options_(std::move(options)) {}

 private:
  net::ClientOptions OptionsFor(const Material& material, const ExecCredentials::Ptr& plugin) const;
  MaterialPtr Current() const { return files_ != nullptr ? files_->Current() : fixed_; }

  const Context context_;
  const net::ClientOptions options_;
  MaterialPtr fixed_;  // if there are no files
  std::unique_ptr<WatchedFile<Material>> files_;
  Mutex mu_;
  // The inputs of client_.
  MaterialPtr material_ COX_GUARDED_BY(mu_);
  std::string certificate_pem_ COX_GUARDED_BY(mu_);  // from the plugin
  std::shared_ptr<net::Client> client_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
