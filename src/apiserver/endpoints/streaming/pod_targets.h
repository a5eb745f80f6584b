// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/core/v1.h"
#include "base/result.h"

// Request targets (path and query) of the kubelet's server. Pure functions.
namespace cox::apiserver {

// The container to use: `name`, or the only container if `name` is empty. Errors: BadRequest with
// upstream's texts, which list the containers to choose from.
Result<std::string> ContainerOf(const core::v1::Pod& pod, const std::string& name);

std::string LogTarget(const core::v1::Pod& pod, std::string_view container,
                      const core::v1::PodLogOptions& options);
std::string ExecTarget(const core::v1::Pod& pod, std::string_view container,
                       const core::v1::PodExecOptions& options);
std::string AttachTarget(const core::v1::Pod& pod, std::string_view container,
                         const core::v1::PodAttachOptions& options);
std::string PortForwardTarget(const core::v1::Pod& pod,
                              const core::v1::PodPortForwardOptions& options);

// Escapes a query value or a path segment.
std::string QueryEscape(std::string_view text);
std::string PathEscape(std::string_view text);

}  // namespace cox::apiserver
