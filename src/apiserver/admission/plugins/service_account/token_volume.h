// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/core/v1.h"

namespace cox::apiserver::service_account {

// Where programs in containers look for their credentials.
inline constexpr std::string_view kTokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

// Whether the Pod wants to speak to the API: what it says itself counts, then what its account
// says, and else it does.
bool WantsToken(const core::v1::ServiceAccount& account, const core::v1::PodSpec& spec);

// Mounts a volume with a token that changes every hour, the CA of the cluster and the name of the
// namespace into each container and init container that has nothing at that place. A volume
// "kube-api-access-..." that is there already is used. `generate_name` makes the name of a new one
// from its prefix.
void MountToken(core::v1::PodSpec& spec,
                const std::function<std::string(std::string_view prefix)>& generate_name);

}  // namespace cox::apiserver::service_account
