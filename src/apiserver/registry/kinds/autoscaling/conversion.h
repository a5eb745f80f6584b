// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/autoscaling/v1.h"
#include "api/autoscaling/v2.h"
#include "api/meta/v1.h"

// Conversion of HorizontalPodAutoscaler between its versions.
//
// autoscaling/v1 has a field for only one target, the CPU utilization. Conversion to v1 writes
// everything else into annotations, so that a v1 client can read and write an object without loss.
// v2 objects do not have these annotations.
namespace cox::apiserver {

inline constexpr char kMetricSpecsAnnotation[] = "autoscaling.alpha.kubernetes.io/metrics";
inline constexpr char kMetricStatusesAnnotation[] =
    "autoscaling.alpha.kubernetes.io/current-metrics";
inline constexpr char kBehaviorAnnotation[] = "autoscaling.alpha.kubernetes.io/behavior";
inline constexpr char kConditionsAnnotation[] = "autoscaling.alpha.kubernetes.io/conditions";

autoscaling::v1::HorizontalPodAutoscaler ToV1(const autoscaling::v2::HorizontalPodAutoscaler& hub);
// Annotations with invalid JSON are dropped.
autoscaling::v2::HorizontalPodAutoscaler FromV1(const autoscaling::v1::HorizontalPodAutoscaler& v1);

void DropConversionAnnotations(meta::v1::ObjectMeta& meta);

// Conversion of single metrics (metric_conversion.cc).
autoscaling::v1::MetricSpec ToV1(const autoscaling::v2::MetricSpec& hub);
autoscaling::v2::MetricSpec FromV1(const autoscaling::v1::MetricSpec& v1);
autoscaling::v1::MetricStatus ToV1(const autoscaling::v2::MetricStatus& hub);
autoscaling::v2::MetricStatus FromV1(const autoscaling::v1::MetricStatus& v1);

// The metric that v1 has a field for.
autoscaling::v2::MetricSpec CpuUtilization(int32_t percent);
bool IsCpuUtilization(const autoscaling::v2::MetricSpec& metric);

}  // namespace cox::apiserver
