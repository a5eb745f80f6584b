// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/core/v1.h"

namespace cox::apiserver::service_account {

// The path where client libraries read their credentials.
inline constexpr std::string_view kTokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

// Reports whether the Pod gets a token: the Pod's setting takes precedence over the account's; the
// default is true.
bool WantsToken(const core::v1::ServiceAccount& account, const core::v1::PodSpec& spec);

// Mounts a volume with a token that is rotated every hour, the CA of the cluster and the name of
// the namespace into each container and init container without a mount at this path. An existing
// volume "kube-api-access-..." is reused. `generate_name` creates the name of a new volume from a
// prefix.
void MountToken(core::v1::PodSpec& spec,
                const std::function<std::string(std::string_view prefix)>& generate_name);

}  // namespace cox::apiserver::service_account
