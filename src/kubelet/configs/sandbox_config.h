// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "api/cri/v1.h"
#include "base/result.h"
#include "kubelet/options/options.h"

namespace cox::kubelet {

// The CRI configuration of a Pod's sandbox. Pure. `host_dns`: the node's own DNS configuration.
// Returns BadRequest with the text of the event FailedCreatePodSandBox.
Result<cri::v1::PodSandboxConfig> MakeSandboxConfig(const core::v1::Pod& pod, uint32_t attempt,
                                                    const Options& options,
                                                    const cri::v1::DNSConfig& host_dns);

}  // namespace cox::kubelet
