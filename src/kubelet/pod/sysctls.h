// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "api/core/v1.h"
#include "base/result.h"

// The sysctls of Pods: a node allows those that affect nothing but the Pod. Pure.
namespace cox::kubelet {

// Checks --allowed-unsafe-sysctls: names, or prefixes that end with "*". BadRequest for a sysctl
// that is not separate for each Pod, and for a malformed name.
Status CheckUnsafeSysctls(std::span<const std::string> patterns);

// Why the Pod must not run: it sets a sysctl that is neither safe nor in `unsafe`, or one that
// would change the node, because the Pod uses the node's network or IPC namespace.
std::optional<std::string> ForbiddenSysctl(const core::v1::Pod& pod,
                                           std::span<const std::string> unsafe);

}  // namespace cox::kubelet
