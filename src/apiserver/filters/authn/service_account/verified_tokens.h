// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authn/authenticator/token_cache.h"
#include "apiserver/filters/authn/service_account/bound_objects.h"
#include "apiserver/filters/authn/service_account/claims.h"

namespace cox::apiserver {

// A token with a verified signature.
struct VerifiedToken {
  ServiceAccountClaims claims;
  UserInfo user;
  uint64_t keys = 0;  // ServiceAccountTokens::generation() at verification
  mutable BoundObjects::Memory memory;
};
using VerifiedTokenPtr = std::shared_ptr<const VerifiedToken>;

// Avoids a signature check per request.
using VerifiedTokens = TokenCache<VerifiedToken>;
inline constexpr std::chrono::seconds kKeepVerified{60};

}  // namespace cox::apiserver
