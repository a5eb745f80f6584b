// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "base/watched_file.h"
#include "coxswain/config.h"
#include "net/http.h"

namespace cox::sdk {

// The header fields by which a server knows who asks: user agent, impersonation, and the
// authorization, which a token file may change at any time.
//
// Threads: Add may be called concurrently.
// Errors: Open says BadRequest for what contradicts itself, NotFound for a token file that cannot
// be
//   read.
class RequestHeaders {
 public:
  static Result<std::unique_ptr<RequestHeaders>> Open(const Context& ctx, const Config& config,
                                                      const std::string& program);

  // Replaces what `headers` has of them. `plugin_token`, if not empty, is used where the
  // configuration has no authorization of its own.
  void Add(const std::string& plugin_token, net::Headers* headers) const;

 private:
  net::Headers fixed_;                                    // user agent, impersonation
  std::string authorization_;                             // a secret; empty: none
  std::unique_ptr<WatchedFile<std::string>> token_file_;  // "Bearer ..."; null: none
};

// The name of the field for a key of Config::Impersonate::extra: lower case, with all that a field
// name cannot hold as %xx.
std::string ImpersonateExtraField(std::string_view key);

// "operator/v0 (linux/amd64) coxswain".
std::string DefaultUserAgent(const std::string& program);

}  // namespace cox::sdk
