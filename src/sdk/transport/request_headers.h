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

// The request headers for user agent, impersonation and authorization. A token file is reloaded
// when it changes.
//
// Threads: Add may be called concurrently.
// Errors: Open returns BadRequest for inconsistent settings, NotFound for an unreadable token file.
class RequestHeaders {
 public:
  static Result<std::unique_ptr<RequestHeaders>> Open(const Context& ctx, const Config& config,
                                                      const std::string& program);

  // Replaces these headers in `headers`. `plugin_token`, if not empty, is used if the configuration
  // has no authorization.
  void Add(const std::string& plugin_token, net::Headers* headers) const;

 private:
  net::Headers fixed_;                                    // user agent, impersonation
  std::string authorization_;                             // a secret; empty: none
  std::unique_ptr<WatchedFile<std::string>> token_file_;  // "Bearer ..."; null: none
};

// The header name for a key of Config::Impersonate::extra: lower case, with %xx for characters that
// are not allowed in header names.
std::string ImpersonateExtraField(std::string_view key);

// "operator/v0 (linux/amd64) coxswain".
std::string DefaultUserAgent(const std::string& program);

}  // namespace cox::sdk
