// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apiserver/filters/authn/oidc/issuer_keys.h"

namespace cox::apiserver {

// Larger than the configuration or keys of any issuer.
inline constexpr size_t kMaxIssuerResponse = size_t{1} * 1024 * 1024;

// Reads https URLs over separate connections, trusting `ca_pem` (empty: the system's roots).
// Redirects are errors, because only the configured issuer is trusted.
IssuerKeys::Fetch FetchOverTls(const std::string& ca_pem);

}  // namespace cox::apiserver
