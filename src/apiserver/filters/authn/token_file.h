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
// Tokens are kept and looked up by their hash: comparing them takes the same time wherever they
// differ, and a dump of memory holds none.
// Threads: constant after construction.
class TokenTable {
 public:
  // BadRequest, naming the line, for what is no such file.
  static Result<std::shared_ptr<const TokenTable>> Parse(std::string_view csv);

  // Null if nobody has that token.
  const UserInfo* Find(std::string_view token) const;

 private:
  std::map<TokenDigest, UserInfo> users_;
};
using TokenTablePtr = std::shared_ptr<const TokenTable>;

// `table` gives the tokens of this moment; they may change while the server runs.
std::unique_ptr<const AuthMethod> NewTokenFileMethod(std::function<TokenTablePtr()> table);
// Of a table that stays as it is.
Result<std::unique_ptr<const AuthMethod>> NewTokenFileMethod(std::string_view csv);

}  // namespace cox::apiserver
