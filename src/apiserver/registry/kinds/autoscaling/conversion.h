// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/autoscaling/v1.h"
#include "api/autoscaling/v2.h"
#include "api/meta/v1.h"

// HorizontalPodAutoscaler between its versions.
//
// autoscaling/v1 has a field for one target, the CPU utilization. Everything else that v2 can say
// travels through v1 in annotations, so that a client of v1 which writes back what it read loses
// nothing. The annotations exist in v1 only: v2 never shows them.
namespace cox::apiserver {

inline constexpr char kMetricSpecsAnnotation[] = "autoscaling.alpha.kubernetes.io/metrics";
inline constexpr char kMetricStatusesAnnotation[] =
    "autoscaling.alpha.kubernetes.io/current-metrics";
inline constexpr char kBehaviorAnnotation[] = "autoscaling.alpha.kubernetes.io/behavior";
inline constexpr char kConditionsAnnotation[] = "autoscaling.alpha.kubernetes.io/conditions";

autoscaling::v1::HorizontalPodAutoscaler ToV1(const autoscaling::v2::HorizontalPodAutoscaler& hub);
// Annotations that hold no such JSON are dropped like the others.
autoscaling::v2::HorizontalPodAutoscaler FromV1(const autoscaling::v1::HorizontalPodAutoscaler& v1);

void DropConversionAnnotations(meta::v1::ObjectMeta& meta);

// Metrics, one by one (metric_conversion.cc).
autoscaling::v1::MetricSpec ToV1(const autoscaling::v2::MetricSpec& hub);
autoscaling::v2::MetricSpec FromV1(const autoscaling::v1::MetricSpec& v1);
autoscaling::v1::MetricStatus ToV1(const autoscaling::v2::MetricStatus& hub);
autoscaling::v2::MetricStatus FromV1(const autoscaling::v1::MetricStatus& v1);

// The metric that v1 has a field for.
autoscaling::v2::MetricSpec CpuUtilization(int32_t percent);
bool IsCpuUtilization(const autoscaling::v2::MetricSpec& metric);

}  // namespace cox::apiserver
