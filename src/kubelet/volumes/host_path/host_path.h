// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "base/result.h"
#include "kubelet/volumes/plugin/plugin.h"

namespace cox::kubelet {

// Checks that the host path has the required type; creates it for the types ...OrCreate.
// BadRequest "hostPath type check failed: /x is not a directory".
Status PrepareHostPath(const core::v1::HostPathVolumeSource& source);

// hostPath: a directory or file of the host.
std::unique_ptr<const VolumePlugin> NewHostPathPlugin();

}  // namespace cox::kubelet
