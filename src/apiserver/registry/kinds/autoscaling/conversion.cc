// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/autoscaling/conversion.h"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/registry/validation/internal_value.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

namespace v1 = autoscaling::v1;
namespace v2 = autoscaling::v2;

template <class T>
std::string ListJson(const List<T>& items) {
  std::string text = "[";
  for (const T& item : items) {
    if (text.size() > 1) text.push_back(',');
    text += json::Encode(item);
  }
  return text + "]";
}

// The list in the annotation `key`; nullopt if there is none or it is invalid.
template <class T>
std::optional<List<T>> ReadList(const meta::v1::ObjectMeta& meta, const char* key) {
  const std::string* text = meta.annotations.Get(key);
  if (text == nullptr) return std::nullopt;
  Result<Value> value = json::Parse(*text);
  if (!value.ok() || !value->is_array()) return std::nullopt;
  List<T> items;
  for (const Value& item : value->as_array()) {
    Result<T> one = json::FromValue<T>(item);
    if (!one.ok()) return std::nullopt;
    items.push_back(*std::move(one));
  }
  return items;
}

// Changes names of upstream's internal type to JSON names: "ScaleUp" to "scaleUp".
Value WithApiNames(const Value& value) {
  if (value.is_array()) {
    Value::Array items;
    for (const Value& item : value.as_array()) items.push_back(WithApiNames(item));
    return items;
  }
  if (!value.is_object()) return value;
  ValueObject out;
  for (const ValueObject::Member& member : value.as_object()) {
    std::string key = member.key;
    if (!key.empty() && key[0] >= 'A' && key[0] <= 'Z') {
      key[0] = static_cast<char>(key[0] - 'A' + 'a');
    }
    out[key] = WithApiNames(member.value);
  }
  return out;
}

Box<v2::HorizontalPodAutoscalerBehavior> ReadBehavior(const meta::v1::ObjectMeta& meta) {
  const std::string* text = meta.annotations.Get(kBehaviorAnnotation);
  if (text == nullptr) return nullptr;
  Result<Value> value = json::Parse(*text);
  if (!value.ok() || !value->is_object()) return nullptr;
  auto behavior = json::FromValue<v2::HorizontalPodAutoscalerBehavior>(WithApiNames(*value));
  if (!behavior.ok()) return nullptr;
  return *std::move(behavior);
}

template <class To, class From>
To Condition(const From& from) {
  return {.type = from.type,
          .status = from.status,
          .lastTransitionTime = from.lastTransitionTime,
          .reason = from.reason,
          .message = from.message};
}

void WriteAnnotations(const v2::HorizontalPodAutoscaler& hub, Map<std::string>& annotations) {
  List<v1::MetricSpec> metrics;
  for (const v2::MetricSpec& metric : hub.spec.metrics) {
    if (!IsCpuUtilization(metric)) metrics.push_back(ToV1(metric));
  }
  if (!metrics.empty()) annotations[kMetricSpecsAnnotation] = ListJson(metrics);
  // All of them, including the CPU metric: its v1 field cannot contain the raw value.
  List<v1::MetricStatus> statuses;
  for (const v2::MetricStatus& status : hub.status.currentMetrics) {
    statuses.push_back(ToV1(status));
  }
  if (!statuses.empty()) annotations[kMetricStatusesAnnotation] = ListJson(statuses);
  if (hub.spec.behavior) {
    annotations[kBehaviorAnnotation] = InternalValue(*hub.spec.behavior).text();
  }
  List<v1::HorizontalPodAutoscalerCondition> conditions;
  for (const auto& condition : hub.status.conditions) {
    conditions.push_back(Condition<v1::HorizontalPodAutoscalerCondition>(condition));
  }
  if (!conditions.empty()) annotations[kConditionsAnnotation] = ListJson(conditions);
}

void ReadAnnotations(const meta::v1::ObjectMeta& meta, v2::HorizontalPodAutoscaler& hub) {
  if (auto metrics = ReadList<v1::MetricSpec>(meta, kMetricSpecsAnnotation)) {
    List<v2::MetricSpec> all;
    for (const v1::MetricSpec& metric : *metrics) all.push_back(FromV1(metric));
    for (v2::MetricSpec& metric : hub.spec.metrics) all.push_back(std::move(metric));
    hub.spec.metrics = std::move(all);
  }
  if (auto statuses = ReadList<v1::MetricStatus>(meta, kMetricStatusesAnnotation)) {
    hub.status.currentMetrics.clear();
    for (const v1::MetricStatus& status : *statuses) {
      hub.status.currentMetrics.push_back(FromV1(status));
    }
  }
  hub.spec.behavior = ReadBehavior(meta);
  if (auto conditions =
          ReadList<v1::HorizontalPodAutoscalerCondition>(meta, kConditionsAnnotation)) {
    for (const auto& condition : *conditions) {
      hub.status.conditions.push_back(Condition<v2::HorizontalPodAutoscalerCondition>(condition));
    }
  }
}

}  // namespace

void DropConversionAnnotations(meta::v1::ObjectMeta& meta) {
  for (const char* key : {kMetricSpecsAnnotation, kMetricStatusesAnnotation, kBehaviorAnnotation,
                          kConditionsAnnotation}) {
    meta.annotations.erase(key);
  }
}

v1::HorizontalPodAutoscaler ToV1(const v2::HorizontalPodAutoscaler& hub) {
  v1::HorizontalPodAutoscaler out;
  out.metadata = hub.metadata;
  DropConversionAnnotations(out.metadata);
  out.spec = {.scaleTargetRef = {.kind = hub.spec.scaleTargetRef.kind,
                                 .name = hub.spec.scaleTargetRef.name,
                                 .apiVersion = hub.spec.scaleTargetRef.apiVersion},
              .minReplicas = hub.spec.minReplicas,
              .maxReplicas = hub.spec.maxReplicas};
  for (const v2::MetricSpec& metric : hub.spec.metrics) {
    if (!IsCpuUtilization(metric)) continue;
    out.spec.targetCPUUtilizationPercentage = metric.resource->target.averageUtilization;
    break;
  }
  out.status = {.observedGeneration = hub.status.observedGeneration,
                .lastScaleTime = hub.status.lastScaleTime,
                .currentReplicas = hub.status.currentReplicas,
                .desiredReplicas = hub.status.desiredReplicas};
  for (const v2::MetricStatus& status : hub.status.currentMetrics) {
    if (!status.resource || status.resource->name != "cpu" ||
        !status.resource->current.averageUtilization) {
      continue;
    }
    out.status.currentCPUUtilizationPercentage = status.resource->current.averageUtilization;
  }
  WriteAnnotations(hub, out.metadata.annotations);
  return out;
}

v2::HorizontalPodAutoscaler FromV1(const v1::HorizontalPodAutoscaler& v1) {
  v2::HorizontalPodAutoscaler hub;
  hub.metadata = v1.metadata;
  hub.spec.scaleTargetRef = {.kind = v1.spec.scaleTargetRef.kind,
                             .name = v1.spec.scaleTargetRef.name,
                             .apiVersion = v1.spec.scaleTargetRef.apiVersion};
  hub.spec.minReplicas = v1.spec.minReplicas;
  hub.spec.maxReplicas = v1.spec.maxReplicas;
  if (v1.spec.targetCPUUtilizationPercentage) {
    hub.spec.metrics.push_back(CpuUtilization(*v1.spec.targetCPUUtilizationPercentage));
  }
  hub.status.observedGeneration = v1.status.observedGeneration;
  hub.status.lastScaleTime = v1.status.lastScaleTime;
  hub.status.currentReplicas = v1.status.currentReplicas;
  hub.status.desiredReplicas = v1.status.desiredReplicas;
  if (v1.status.currentCPUUtilizationPercentage) {
    v2::MetricStatus cpu{.type = v2::kResourceMetricSourceType};
    cpu.resource = v2::ResourceMetricStatus{
        .name = "cpu",
        .current = {.averageUtilization = v1.status.currentCPUUtilizationPercentage}};
    hub.status.currentMetrics.push_back(std::move(cpu));
  }
  ReadAnnotations(v1.metadata, hub);
  DropConversionAnnotations(hub.metadata);
  return hub;
}

}  // namespace cox::apiserver
