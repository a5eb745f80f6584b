// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/authenticator/token_cache.h"

namespace cox::apiserver {

// Bearer tokens from a file: token,user,uid,"group,group" per line.
//
// Security: Tokens are stored and looked up by their hash, so that lookups leak no timing
//   information and memory dumps contain no tokens.
// Threads: Immutable after construction.
class TokenTable {
 public:
  // Errors: BadRequest with the line number.
  static Result<std::shared_ptr<const TokenTable>> Parse(std::string_view csv);

  // Null if the token is unknown.
  const UserInfo* Find(std::string_view token) const;

 private:
  std::map<TokenDigest, UserInfo> users_;
};
using TokenTablePtr = std::shared_ptr<const TokenTable>;

// `table` returns the current tokens, which may change while the server runs.
std::unique_ptr<const AuthMethod> NewTokenFileMethod(std::function<TokenTablePtr()> table);
// With a fixed table.
Result<std::unique_ptr<const AuthMethod>> NewTokenFileMethod(std::string_view csv);

}  // namespace cox::apiserver
