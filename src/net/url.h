// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cox::net {

// The URL of a server or a proxy: "scheme://[user[:password]@]host[:port][/path]".
struct Url {
  std::string scheme;    // lower case
  std::string username;  // decoded
  std::string password;  // decoded; a secret
  std::string host;      // without brackets
  uint16_t port = 0;     // 0: not specified
  std::string path;      // as written, without trailing slash

  // "host:port", with brackets around an IPv6 address.
  std::string Authority() const;
};

// BadRequest with the reason, but without the text, which may contain a password. Queries and
// fragments are rejected.
Result<Url> ParseUrl(std::string_view text);

}  // namespace cox::net
