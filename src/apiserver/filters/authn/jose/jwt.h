// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/filters/authn/jose/keys.h"
#include "object/type/value.h"

// Signed JSON Web Tokens in their compact form (RFC 7515, RFC 7519), as far as service accounts
// need them.
namespace cox::apiserver {

// Longer texts are no tokens of ours: a hostile one costs no more than looking at its size.
inline constexpr size_t kMaxTokenBytes = size_t{16} * 1024;

// A token taken apart. Nothing of it is verified.
struct Jwt {
  std::string algorithm;
  std::string key_id;            // empty: it names none
  Value claims;                  // an object
  std::string_view signed_part;  // of the token it was parsed from
  std::string signature;
};

// None for what is no token: wrong count of parts, no base64, no JSON objects, or a header that
// demands what we do not know ("crit").
std::optional<Jwt> ParseJwt(std::string_view token);

// `claims` as a token signed by `key`.
Result<std::string> SignJwt(const SigningKey& key, const Value& claims);

}  // namespace cox::apiserver
