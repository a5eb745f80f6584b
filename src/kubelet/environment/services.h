// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"

namespace cox::kubelet {

using EnvironmentList = std::vector<std::pair<std::string, std::string>>;

// The service environment variables (docker links): WEB_SERVICE_HOST, WEB_SERVICE_PORT,
// WEB_PORT_80_TCP_ADDR and so on. Only for services with a cluster IP; sorted by name. Pure.
EnvironmentList ServiceEnvironment(
    const std::vector<std::shared_ptr<const core::v1::Service>>& services);

}  // namespace cox::kubelet
