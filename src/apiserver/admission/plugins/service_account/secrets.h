// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

// Rules for the secrets that a Pod may use. Pure functions.
namespace cox::apiserver::service_account {

// Reports whether the account restricts its Pods to the secrets that it lists, by the annotation
// kubernetes.io/enforce-mountable-secrets.
bool EnforcesMountableSecrets(const core::v1::ServiceAccount& account);

// The error text for the first secret that the Pod uses and the account does not list; empty if
// there is none. Checks volumes, the environment of all containers (init, regular and ephemeral;
// env and envFrom), and image pull secrets.
std::string ForbiddenSecret(const core::v1::ServiceAccount& account, const core::v1::PodSpec& spec);
// The same for ephemeral containers only, which are the only addition to an existing Pod.
std::string ForbiddenEphemeralSecret(const core::v1::ServiceAccount& account,
                                     const core::v1::PodSpec& spec);

}  // namespace cox::apiserver::service_account
