// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authn/authenticator/token_cache.h"
#include "apiserver/filters/authn/service_account/bound_objects.h"
#include "apiserver/filters/authn/service_account/claims.h"

namespace cox::apiserver {

// A token whose signature was found good.
struct VerifiedToken {
  ServiceAccountClaims claims;
  UserInfo user;
  uint64_t keys = 0;  // ServiceAccountTokens::generation() of the keys that were asked
  mutable BoundObjects::Memory memory;
};
using VerifiedTokenPtr = std::shared_ptr<const VerifiedToken>;

// So that a request does not pay for a signature each time.
using VerifiedTokens = TokenCache<VerifiedToken>;
inline constexpr std::chrono::seconds kKeepVerified{60};

}  // namespace cox::apiserver
