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

// What a credential plugin gave: a token, a client certificate, or both.
struct ExecCredential {
  std::string token;            // a secret
  std::string certificate_pem;  // empty: none
  std::string key_pem;          // a secret
  std::optional<Clock::WallTime> expires;
};

// The credentials of a program that is asked for them (client.authentication.k8s.io).
//
// Guarantees: the program is run when there is no credential, when the one there is has expired, or
//   when the server refused it; never twice at once. Who comes meanwhile waits for its result.
// Threads: all methods may be called concurrently.
// Errors: Unauthorized, saying which program failed, how, and its install hint; never what it
// wrote.
//   The context's reason when that stops first.
class ExecCredentials {
 public:
  using Ptr = std::shared_ptr<const ExecCredential>;

  // BadRequest for an API version or an interactive mode that we do not have. `terminal`: somebody
  // is there to be asked.
  static Result<std::unique_ptr<ExecCredentials>> Create(const Config& config, bool terminal);
  // Use Create.
  ExecCredentials(ExecPlugin plugin, std::string info, bool interactive)
      : plugin_(std::move(plugin)), info_(std::move(info)), interactive_(interactive) {}

  Result<Ptr> Get(const Context& ctx) { return GetOtherThan(ctx, nullptr); }
  // One that is not `refused`.
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

// Of the text that a plugin wrote. BadRequest without any of it.
Result<ExecCredential> ParseExecCredential(std::string_view text, std::string_view api_version);
// What KUBERNETES_EXEC_INFO says.
std::string ExecInfo(const Config& config, const std::string& ca_pem, bool interactive);

}  // namespace cox::sdk
