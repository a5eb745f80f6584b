// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"

namespace cox::scheduler {

// The text of /metrics/resources: kube_pod_resource_request and kube_pod_resource_limit, the
// resources that the scheduler and kubelets reserve for each Pod that is not terminal. A resource
// without a request or limit has no series. Pure.
std::string PodResourceMetrics(const std::vector<std::shared_ptr<const core::v1::Pod>>& pods);

}  // namespace cox::scheduler
