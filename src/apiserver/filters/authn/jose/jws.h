// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <span>
#include <string_view>

// Signatures of JSON Web Tokens (RFC 7515, RFC 7518, RFC 8037).
namespace cox::apiserver {

// All algorithms that VerifyJws knows. None of them is "none" or has a secret that both sides know.
std::span<const std::string_view> JwsAlgorithms();

// Whether `key` signed `message` with `algorithm`. False for every other signature, for one that is
// no signature at all, and where key and algorithm do not go together.
bool VerifyJws(EVP_PKEY* key, std::string_view algorithm, std::string_view message,
               std::string_view signature);

}  // namespace cox::apiserver
