// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"

namespace cox::kubelet {

using EnvironmentList = std::vector<std::pair<std::string, std::string>>;

// The variables by which containers found services before there was DNS: WEB_SERVICE_HOST,
// WEB_SERVICE_PORT, WEB_PORT_80_TCP_ADDR and the rest. Of services with an address of their own;
// sorted by the service's name. Pure.
EnvironmentList ServiceEnvironment(
    const std::vector<std::shared_ptr<const core::v1::Service>>& services);

}  // namespace cox::kubelet
