// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/filters/authn/jose/keys.h"
#include "object/type/value.h"

// Signed JSON Web Tokens in compact form (RFC 7515, RFC 7519), as far as service accounts need
// them.
namespace cox::apiserver {

// Longer tokens are rejected before parsing, to limit the cost of malicious input.
inline constexpr size_t kMaxTokenBytes = size_t{16} * 1024;

// A parsed token. It is not verified.
struct Jwt {
  std::string algorithm;
  std::string key_id;            // empty: none
  Value claims;                  // an object
  std::string_view signed_part;  // points into the parsed token
  std::string signature;
};

// None for invalid tokens: a wrong number of parts, invalid base64 or JSON, or a header with
// unsupported critical extensions ("crit").
std::optional<Jwt> ParseJwt(std::string_view token);

// Encodes `claims` as a token signed by `key`.
Result<std::string> SignJwt(const SigningKey& key, const Value& claims);

}  // namespace cox::apiserver
