// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cox::net {

// Where a server or a proxy is: "scheme://[user[:password]@]host[:port][/path]".
struct Url {
  std::string scheme;    // lower case
  std::string username;  // decoded
  std::string password;  // decoded; a secret
  std::string host;      // without brackets
  uint16_t port = 0;     // 0: the URL names none
  std::string path;      // as written, without a slash at its end

  // "host:port", with brackets where the host is an IPv6 address.
  std::string Authority() const;
};

// BadRequest, saying what is wrong; the text is not repeated, for it may hold a password. A query
// or a fragment is refused: neither has a meaning here.
Result<Url> ParseUrl(std::string_view text);

}  // namespace cox::net
