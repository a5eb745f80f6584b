// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coxswain/config.h"

namespace cox::sdk {

// The output of a credential plugin: a token, a client certificate, or both.
struct ExecCredential {
  std::string token;            // a secret
  std::string certificate_pem;  // empty: none
  std::string key_pem;          // a secret
  std::optional<Clock::WallTime> expires;
};

// Credentials from a credential plugin (client.authentication.k8s.io).
//
// Guarantees: the plugin runs if there is no credential, the credential has expired, or the server
//   rejected it; at most one run at a time, and concurrent callers wait for its result.
// Threads: all methods may be called concurrently.
// Errors: Unauthorized with the program, the failure and its install hint, but not its output; the
//   context's Status if the context stops first.
class ExecCredentials {
 public:
  using Ptr = std::shared_ptr<const ExecCredential>;

  // BadRequest for an unsupported API version or interactive mode. `terminal`: standard input is a
  // terminal.
  static Result<std::unique_ptr<ExecCredentials>> Create(const Config& config, bool terminal);
  // Use Create.
  ExecCredentials(ExecPlugin plugin, std::string info, bool interactive)
      : plugin_(std::move(plugin)), info_(std::move(info)), interactive_(interactive) {}

  Result<Ptr> Get(const Context& ctx) { return GetOtherThan(ctx, nullptr); }
  // A credential other than `refused`.
  Result<Ptr> GetOtherThan(const Context& ctx, const Ptr& refused);

 private:
  Result<Ptr> Run(const Context& ctx) const;
  Status Failed(const std::string& how) const;

  const ExecPlugin plugin_;
  const std::string info_;  // KUBERNETES_EXEC_INFO
  const bool interactive_;
  Mutex mu_;
  CondVar changed_;
  bool running_ COX_GUARDED_BY(mu_) = false;
  Ptr current_ COX_GUARDED_BY(mu_);
};

// Parses the output of a plugin. BadRequest, without any part of the output.
Result<ExecCredential> ParseExecCredential(std::string_view text, std::string_view api_version);
// The value of KUBERNETES_EXEC_INFO.
std::string ExecInfo(const Config& config, const std::string& ca_pem, bool interactive);

}  // namespace cox::sdk
