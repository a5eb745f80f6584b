// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/service_account/tokens.h"
#include "apiserver/registry/served/registry.h"
#include "base/clock.h"

namespace cox::apiserver {

// Bearer tokens of service accounts: signature, issuer, audience and times, and that the account
// and what the token is bound to still exist.
//
// A signature is verified once a minute per token, not per request; the rest each time, so that a
// deleted account or Pod is out at once. `clock` and `registry` outlive the method.
std::unique_ptr<const AuthMethod> NewServiceAccountMethod(
    std::shared_ptr<const ServiceAccountTokens> tokens, const Registry& registry,
    const Clock& clock);

}  // namespace cox::apiserver
