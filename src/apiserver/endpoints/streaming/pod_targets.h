// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/core/v1.h"
#include "base/result.h"

// What kubelets are asked for on behalf of clients: paths of the node's server. Pure functions.
namespace cox::apiserver {

// The container that is meant: the only one where none is named. BadRequest with upstream's words,
// which name those to choose from.
Result<std::string> ContainerOf(const core::v1::Pod& pod, const std::string& name);

std::string LogTarget(const core::v1::Pod& pod, std::string_view container,
                      const core::v1::PodLogOptions& options);
std::string ExecTarget(const core::v1::Pod& pod, std::string_view container,
                       const core::v1::PodExecOptions& options);
std::string AttachTarget(const core::v1::Pod& pod, std::string_view container,
                         const core::v1::PodAttachOptions& options);
std::string PortForwardTarget(const core::v1::Pod& pod,
                              const core::v1::PodPortForwardOptions& options);

// As a value in a query; as a part of a path.
std::string QueryEscape(std::string_view text);
std::string PathEscape(std::string_view text);

}  // namespace cox::apiserver
