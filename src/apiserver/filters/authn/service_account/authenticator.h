// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/service_account/tokens.h"
#include "apiserver/registry/served/registry.h"
#include "base/clock.h"

namespace cox::apiserver {

// Bearer tokens of service accounts. Checks the signature, issuer, audience and times, and that the
// service account and the bound object still exist.
//
// A signature is verified once a minute per token; the rest is checked on every request, so that
// deleting an account or Pod takes effect immediately. `clock` and `registry` must outlive the
// method.
std::unique_ptr<const AuthMethod> NewServiceAccountMethod(
    std::shared_ptr<const ServiceAccountTokens> tokens, const Registry& registry,
    const Clock& clock);

}  // namespace cox::apiserver
