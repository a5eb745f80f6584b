// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <span>
#include <string_view>

// Signatures of JSON Web Tokens (RFC 7515, RFC 7518, RFC 8037).
namespace cox::apiserver {

// All supported algorithms. "none" and symmetric algorithms are excluded.
std::span<const std::string_view> JwsAlgorithms();

// Whether `key` signed `message` with `algorithm`. False for invalid signatures, and if the
// algorithm does not match the key.
bool VerifyJws(EVP_PKEY* key, std::string_view algorithm, std::string_view message,
               std::string_view signature);

}  // namespace cox::apiserver
