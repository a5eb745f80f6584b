// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

// Which secrets a Pod may use. Pure functions.
namespace cox::apiserver::service_account {

// Whether the account asks that its Pods use no secrets but those it lists: by the annotation
// kubernetes.io/enforce-mountable-secrets.
bool EnforcesMountableSecrets(const core::v1::ServiceAccount& account);

// Why a Pod of this account may not be: the first secret it uses that the account does not list.
// Empty: there is none. Looks at volumes, at the environment of containers of every kind (init,
// ordinary, ephemeral; single variables and whole secrets), and at what images are pulled with.
std::string ForbiddenSecret(const core::v1::ServiceAccount& account, const core::v1::PodSpec& spec);
// The same of ephemeral containers alone: all that can be added to a Pod that is there.
std::string ForbiddenEphemeralSecret(const core::v1::ServiceAccount& account,
                                     const core::v1::PodSpec& spec);

}  // namespace cox::apiserver::service_account
