// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apiserver/filters/authn/oidc/issuer_keys.h"

namespace cox::apiserver {

// More than any issuer's configuration or keys have.
inline constexpr size_t kMaxIssuerAnswer = size_t{1} * 1024 * 1024;

// Reads https URLs over connections of their own, trusting `ca_pem` (empty: the system's roots).
// A redirect is an error: the issuer is who it was configured to be, not whom it points at.
IssuerKeys::Fetch FetchOverTls(const std::string& ca_pem);

}  // namespace cox::apiserver
