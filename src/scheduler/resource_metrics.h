// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "base/metric_text.h"

namespace cox::scheduler {

// The text of /metrics/resources: kube_pod_resource_request and kube_pod_resource_limit, the
// resources that the scheduler and kubelets reserve for each Pod that is not terminal. A resource
// without a request or limit has no series.
class PodResourceMetrics {
 public:
  PodResourceMetrics();
  void Add(const core::v1::Pod& pod);
  // May be called once.
  std::string Take();

 private:
  MetricText limits_;
  MetricText requests_;
};

}  // namespace cox::scheduler
