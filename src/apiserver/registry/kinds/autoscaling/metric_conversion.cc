// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/autoscaling/conversion.h"

namespace cox::apiserver {
namespace {

namespace v1 = autoscaling::v1;
namespace v2 = autoscaling::v2;

v1::CrossVersionObjectReference Down(const v2::CrossVersionObjectReference& ref) {
  return {.kind = ref.kind, .name = ref.name, .apiVersion = ref.apiVersion};
}
v2::CrossVersionObjectReference Up(const v1::CrossVersionObjectReference& ref) {
  return {.kind = ref.kind, .name = ref.name, .apiVersion = ref.apiVersion};
}

v2::MetricIdentifier Identifier(const std::string& name,
                                const Box<meta::v1::LabelSelector>& selector) {
  return {.name = name, .selector = selector};
}

// The target of a resource metric: a utilization or an average value.
v2::MetricTarget ResourceTarget(const std::optional<int32_t>& utilization,
                                const std::optional<Quantity>& value) {
  return {.type = utilization ? v2::kUtilizationMetricType : v2::kAverageValueMetricType,
          .averageValue = value,
          .averageUtilization = utilization};
}

Quantity OrZero(const std::optional<Quantity>& value) { return value.value_or(Quantity()); }

}  // namespace

v1::MetricSpec ToV1(const v2::MetricSpec& hub) {
  v1::MetricSpec out{.type = hub.type};
  if (hub.object) {
    out.object = v1::ObjectMetricSource{.target = Down(hub.object->describedObject),
                                        .metricName = hub.object->metric.name,
                                        .targetValue = OrZero(hub.object->target.value),
                                        .selector = hub.object->metric.selector,
                                        .averageValue = hub.object->target.averageValue};
  }
  if (hub.pods) {
    out.pods = v1::PodsMetricSource{.metricName = hub.pods->metric.name,
                                    .targetAverageValue = OrZero(hub.pods->target.averageValue),
                                    .selector = hub.pods->metric.selector};
  }
  if (hub.resource) {
    out.resource = v1::ResourceMetricSource{
        .name = hub.resource->name,
        .targetAverageUtilization = hub.resource->target.averageUtilization,
        .targetAverageValue = hub.resource->target.averageValue};
  }
  if (hub.containerResource) {
    out.containerResource = v1::ContainerResourceMetricSource{
        .name = hub.containerResource->name,
        .targetAverageUtilization = hub.containerResource->target.averageUtilization,
        .targetAverageValue = hub.containerResource->target.averageValue,
        .container = hub.containerResource->container};
  }
  if (hub.external) {
    out.external =
        v1::ExternalMetricSource{.metricName = hub.external->metric.name,
                                 .metricSelector = hub.external->metric.selector,
                                 .targetValue = hub.external->target.value,
                                 .targetAverageValue = hub.external->target.averageValue};
  }
  return out;
}

v2::MetricSpec FromV1(const v1::MetricSpec& v1) {
  v2::MetricSpec out{.type = v1.type};
  if (v1.object) {
    bool average = v1.object->averageValue.has_value();
    v2::MetricTarget target{.type = average ? v2::kAverageValueMetricType : v2::kValueMetricType,
                            .averageValue = v1.object->averageValue};
    // The v1 field is not optional: a zero next to an average is what ToV1 wrote for an absent
    // value.
    if (!average || !v1.object->targetValue.IsZero()) target.value = v1.object->targetValue;
    out.object =
        v2::ObjectMetricSource{.describedObject = Up(v1.object->target),
                               .target = target,
                               .metric = Identifier(v1.object->metricName, v1.object->selector)};
  }
  if (v1.pods) {
    out.pods = v2::PodsMetricSource{.metric = Identifier(v1.pods->metricName, v1.pods->selector),
                                    .target = {.type = v2::kAverageValueMetricType,
                                               .averageValue = v1.pods->targetAverageValue}};
  }
  if (v1.resource) {
    out.resource =
        v2::ResourceMetricSource{.name = v1.resource->name,
                                 .target = ResourceTarget(v1.resource->targetAverageUtilization,
                                                          v1.resource->targetAverageValue)};
  }
  if (v1.containerResource) {
    out.containerResource = v2::ContainerResourceMetricSource{
        .name = v1.containerResource->name,
        .target = ResourceTarget(v1.containerResource->targetAverageUtilization,
                                 v1.containerResource->targetAverageValue),
        .container = v1.containerResource->container};
  }
  if (v1.external) {
    out.external = v2::ExternalMetricSource{
        .metric = Identifier(v1.external->metricName, v1.external->metricSelector),
        .target = {
            .type = v1.external->targetValue ? v2::kValueMetricType : v2::kAverageValueMetricType,
            .value = v1.external->targetValue,
            .averageValue = v1.external->targetAverageValue}};
  }
  return out;
}

v1::MetricStatus ToV1(const v2::MetricStatus& hub) {
  v1::MetricStatus out{.type = hub.type};
  if (hub.object) {
    out.object = v1::ObjectMetricStatus{.target = Down(hub.object->describedObject),
                                        .metricName = hub.object->metric.name,
                                        .currentValue = OrZero(hub.object->current.value),
                                        .selector = hub.object->metric.selector,
                                        .averageValue = hub.object->current.averageValue};
  }
  if (hub.pods) {
    out.pods = v1::PodsMetricStatus{.metricName = hub.pods->metric.name,
                                    .currentAverageValue = OrZero(hub.pods->current.averageValue),
                                    .selector = hub.pods->metric.selector};
  }
  if (hub.resource) {
    out.resource = v1::ResourceMetricStatus{
        .name = hub.resource->name,
        .currentAverageUtilization = hub.resource->current.averageUtilization,
        .currentAverageValue = OrZero(hub.resource->current.averageValue)};
  }
  if (hub.containerResource) {
    out.containerResource = v1::ContainerResourceMetricStatus{
        .name = hub.containerResource->name,
        .currentAverageUtilization = hub.containerResource->current.averageUtilization,
        .currentAverageValue = OrZero(hub.containerResource->current.averageValue),
        .container = hub.containerResource->container};
  }
  if (hub.external) {
    out.external =
        v1::ExternalMetricStatus{.metricName = hub.external->metric.name,
                                 .metricSelector = hub.external->metric.selector,
                                 .currentValue = OrZero(hub.external->current.value),
                                 .currentAverageValue = hub.external->current.averageValue};
  }
  return out;
}

v2::MetricStatus FromV1(const v1::MetricStatus& v1) {
  v2::MetricStatus out{.type = v1.type};
  if (v1.object) {
    out.object = v2::ObjectMetricStatus{
        .metric = Identifier(v1.object->metricName, v1.object->selector),
        .current = {.value = v1.object->currentValue, .averageValue = v1.object->averageValue},
        .describedObject = Up(v1.object->target)};
  }
  if (v1.pods) {
    out.pods = v2::PodsMetricStatus{.metric = Identifier(v1.pods->metricName, v1.pods->selector),
                                    .current = {.averageValue = v1.pods->currentAverageValue}};
  }
  if (v1.resource) {
    out.resource = v2::ResourceMetricStatus{
        .name = v1.resource->name,
        .current = {.averageValue = v1.resource->currentAverageValue,
                    .averageUtilization = v1.resource->currentAverageUtilization}};
  }
  if (v1.containerResource) {
    out.containerResource = v2::ContainerResourceMetricStatus{
        .name = v1.containerResource->name,
        .current = {.averageValue = v1.containerResource->currentAverageValue,
                    .averageUtilization = v1.containerResource->currentAverageUtilization},
        .container = v1.containerResource->container};
  }
  if (v1.external) {
    out.external = v2::ExternalMetricStatus{
        .metric = Identifier(v1.external->metricName, v1.external->metricSelector),
        .current = {.value = v1.external->currentValue,
                    .averageValue = v1.external->currentAverageValue}};
  }
  return out;
}

v2::MetricSpec CpuUtilization(int32_t percent) {
  return {.type = v2::kResourceMetricSourceType,
          .resource = v2::ResourceMetricSource{
              .name = "cpu",
              .target = {.type = v2::kUtilizationMetricType, .averageUtilization = percent}}};
}

bool IsCpuUtilization(const v2::MetricSpec& metric) {
  return metric.type == v2::kResourceMetricSourceType && metric.resource &&
         metric.resource->name == "cpu" && metric.resource->target.averageUtilization;
}

}  // namespace cox::apiserver
