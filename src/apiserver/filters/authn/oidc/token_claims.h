// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authn/config/authentication_config.h"
#include "apiserver/request/user.h"
#include "base/clock.h"
#include "base/result.h"
#include "object/type/value.h"

namespace cox::apiserver {

// The user of a verified token, mapped from its claims according to the configuration. Errors:
// Unauthorized if the audience or the time does not match, or if a required claim or the user name
// is missing.
//
// Distributed claims (groups at other URLs) are not resolved: such a token has no groups.
Result<UserInfo> UserOfClaims(const JwtIssuerConfig& issuer, const Value& claims,
                              Clock::WallTime now);

// The token's expiry in seconds since 1970; 0 if there is none.
int64_t ExpiryOf(const Value& claims);

}  // namespace cox::apiserver
