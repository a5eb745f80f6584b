// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "api/autoscaling/v1.h"
#include "api/autoscaling/v2.h"
#include "apiserver/registry/kinds/autoscaling/conversion.h"
#include "apiserver/registry/kinds/autoscaling/strategies.h"
#include "apiserver/registry/kinds/autoscaling/validation.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "base/strings.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace v1 = autoscaling::v1;
namespace v2 = autoscaling::v2;
using v2::HorizontalPodAutoscaler;

constexpr int32_t kDefaultCpuUtilization = 80;
constexpr size_t kMetricsShown = 2;

// Default rules: scale up immediately by four pods or by 100 percent, whichever is more; scale down
// by any number of pods.
void SetBehaviorDefaults(v2::HorizontalPodAutoscalerBehavior& behavior) {
  v2::HPAScalingRules& up = behavior.scaleUp.ensure();
  if (!up.stabilizationWindowSeconds) up.stabilizationWindowSeconds = 0;
  if (!up.selectPolicy) up.selectPolicy = v2::kMaxChangePolicySelect;
  if (up.policies.empty()) {
    up.policies = {{.type = v2::kPodsScalingPolicy, .value = 4, .periodSeconds = 15},
                   {.type = v2::kPercentScalingPolicy, .value = 100, .periodSeconds = 15}};
  }
  v2::HPAScalingRules& down = behavior.scaleDown.ensure();
  if (!down.selectPolicy) down.selectPolicy = v2::kMaxChangePolicySelect;
  if (down.policies.empty()) {
    down.policies = {{.type = v2::kPercentScalingPolicy, .value = 100, .periodSeconds = 15}};
  }
}

std::string QuantityText(const std::optional<Quantity>& value) {
  return value ? value->ToString() : "<unknown>";
}

std::string PercentText(const std::optional<int32_t>& percent, const char* none) {
  return percent ? std::to_string(*percent) + "%" : none;
}

// "current/target" of one metric. `current` is null if there is no measurement.
std::string ValueText(const v2::MetricTarget& target, const v2::MetricValueStatus* current) {
  const v2::MetricValueStatus unknown;
  if (current == nullptr) current = &unknown;
  if (target.averageValue) {
    return QuantityText(current->averageValue) + "/" + target.averageValue->ToString() + " (avg)";
  }
  return QuantityText(current->value) + "/" + QuantityText(target.value);
}

std::string ResourceText(const std::string& name, const v2::MetricTarget& target,
                         const v2::MetricValueStatus* current) {
  const v2::MetricValueStatus unknown;
  if (current == nullptr) current = &unknown;
  if (target.averageValue) {
    return name + ": " + QuantityText(current->averageValue) + "/" +
           target.averageValue->ToString();
  }
  return name + ": " + PercentText(current->averageUtilization, "<unknown>") + "/" +
         PercentText(target.averageUtilization, "<auto>");
}

// The current values of a source, null if there are none.
template <class Source>
const v2::MetricValueStatus* Current(const Box<Source>* source) {
  return source != nullptr && *source ? &(*source)->current : nullptr;
}

std::string MetricText(const v2::MetricSpec& spec, const v2::MetricStatus* status) {
  if (spec.type == v2::kExternalMetricSourceType && spec.external) {
    return ValueText(spec.external->target, Current(status ? &status->external : nullptr));
  }
  if (spec.type == v2::kObjectMetricSourceType && spec.object) {
    return ValueText(spec.object->target, Current(status ? &status->object : nullptr));
  }
  if (spec.type == v2::kPodsMetricSourceType && spec.pods) {
    const v2::MetricValueStatus* current = Current(status ? &status->pods : nullptr);
    return (current ? QuantityText(current->averageValue) : "<unknown>") + "/" +
           QuantityText(spec.pods->target.averageValue);
  }
  if (spec.type == v2::kResourceMetricSourceType && spec.resource) {
    return ResourceText(spec.resource->name, spec.resource->target,
                        Current(status ? &status->resource : nullptr));
  }
  if (spec.type == v2::kContainerResourceMetricSourceType && spec.containerResource) {
    return ResourceText(spec.containerResource->name, spec.containerResource->target,
                        Current(status ? &status->containerResource : nullptr));
  }
  return "<unknown type>";
}

std::string MetricsText(const HorizontalPodAutoscaler& object) {
  const List<v2::MetricSpec>& specs = object.spec.metrics;
  const List<v2::MetricStatus>& statuses = object.status.currentMetrics;
  if (specs.empty()) return "<none>";
  std::vector<std::string> texts;
  for (size_t i = 0; i < specs.size() && i < kMetricsShown; ++i) {
    texts.push_back(MetricText(specs[i], i < statuses.size() ? &statuses[i] : nullptr));
  }
  std::string text = Join(texts, ", ");
  if (specs.size() <= kMetricsShown) return text;
  return text + " + " + std::to_string(specs.size() - kMetricsShown) + " more...";
}

class HorizontalPodAutoscalerStatusStrategy final
    : public PlainStatusStrategy<HorizontalPodAutoscaler> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const HorizontalPodAutoscaler& object,
                             const HorizontalPodAutoscaler&) const override {
    FieldPath path("status");
    FieldErrorList errors = validation::ValidateNonnegativeField(object.status.currentReplicas,
                                                                 path.Child("currentReplicas"));
    Append(errors, validation::ValidateNonnegativeField(object.status.desiredReplicas,
                                                        path.Child("desiredReplicas")));
    return errors;
  }
};

class V1Version final : public ServedVersion {
 public:
  const KindInfo& kind() const override { return v1::HorizontalPodAutoscaler::kKind; }
  Object ToHub(const Object& object) const override {
    return Object::Of(FromV1(*object.As<v1::HorizontalPodAutoscaler>()));
  }
  Object FromHub(const Object& hub) const override {
    return Object::Of(ToV1(*hub.As<HorizontalPodAutoscaler>()));
  }
  void SetDefaults(Object& object) const override {
    auto& spec = object.As<v1::HorizontalPodAutoscaler>()->spec;
    if (!spec.minReplicas) spec.minReplicas = 1;
  }
};

class HorizontalPodAutoscalerStrategy final
    : public SpecAndStatusStrategy<HorizontalPodAutoscaler, HorizontalPodAutoscalerStatusStrategy,
                                   Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "horizontalpodautoscalers"; }

  std::span<const ServedVersion* const> Versions() const override {
    static const V1Version kV1;
    static const ServedVersion* const kVersions[] = {&kV1};
    return kVersions;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Reference", .type = "string"},
        {.name = "Targets", .type = "string"},
        {.name = "MinPods", .type = "string"},
        {.name = "MaxPods", .type = "string"},
        {.name = "Replicas", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(HorizontalPodAutoscaler& object) const override {
    v2::HorizontalPodAutoscalerSpec& spec = object.spec;
    if (!spec.minReplicas) spec.minReplicas = 1;
    if (spec.metrics.empty()) spec.metrics.push_back(CpuUtilization(kDefaultCpuUtilization));
    if (spec.behavior) SetBehaviorDefaults(*spec.behavior);
    // The annotations are for v1 only; conversion writes them.
    DropConversionAnnotations(object.metadata);
  }

  FieldErrorList Check(const WriteContext&, const HorizontalPodAutoscaler& object) const override {
    return ValidateHorizontalPodAutoscalerSpec(object.spec, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const HorizontalPodAutoscaler& object,
                             const HorizontalPodAutoscaler& old) const override {
    return ValidateHorizontalPodAutoscalerSpec(object.spec, &old.spec);
  }

  Cells RowOf(const HorizontalPodAutoscaler& object, const Time& now) const override {
    const v2::HorizontalPodAutoscalerSpec& spec = object.spec;
    return {object.metadata.name,
            spec.scaleTargetRef.kind + "/" + spec.scaleTargetRef.name,
            MetricsText(object),
            spec.minReplicas ? std::to_string(*spec.minReplicas) : "<unset>",
            spec.maxReplicas,
            object.status.currentReplicas,
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewHorizontalPodAutoscalerStrategy() {
  return std::make_unique<HorizontalPodAutoscalerStrategy>();
}

}  // namespace cox::apiserver
