// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "api/cri/v1.h"
#include "base/result.h"
#include "kubelet/options/options.h"

namespace cox::kubelet {

// What a Pod's sandbox is made with. Pure. `host_dns`: what the node itself uses. BadRequest for
// Pods that cannot have one, with the text of the event FailedCreatePodSandBox.
Result<cri::v1::PodSandboxConfig> MakeSandboxConfig(const core::v1::Pod& pod, uint32_t attempt,
                                                    const Options& options,
                                                    const cri::v1::DNSConfig& host_dns);

}  // namespace cox::kubelet
