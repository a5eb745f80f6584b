// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authn/config/authentication_config.h"
#include "apiserver/request/user.h"
#include "base/clock.h"
#include "base/result.h"
#include "object/type/value.h"

namespace cox::apiserver {

// Who a token of an issuer is about: its claims, whose signature was verified, read as the
// configuration says. Unauthorized for one that is for others, out of its time, lacks what is
// required or names nobody.
//
// Distributed claims (groups that are to be fetched elsewhere) are not followed: such a token names
// no groups.
Result<UserInfo> UserOfClaims(const JwtIssuerConfig& issuer, const Value& claims,
                              Clock::WallTime now);

// When the claims say that the token ends, in seconds since 1970; 0 if they do not.
int64_t ExpiryOf(const Value& claims);

}  // namespace cox::apiserver
