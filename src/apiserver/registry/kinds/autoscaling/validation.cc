// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/autoscaling/validation.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "object/validation/names.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using namespace autoscaling::v2;  // NOLINT: a dozen structs of one group

constexpr int32_t kMaxStabilizationWindowSeconds = 3600;
constexpr int32_t kMaxPeriodSeconds = 1800;

constexpr std::string_view kSourceTypes[] = {"ContainerResource", "External", "Object", "Pods",
                                             "Resource"};

FieldValue ValueOf(const Quantity& quantity) { return quantity.ToString(); }

// Kinds and names must be path segments.
FieldErrorList ValidateSegment(const std::string& value, const FieldPath& path,
                               std::string_view required_detail = "") {
  if (value.empty()) return {FieldError::Required(path, std::string(required_detail))};
  FieldErrorList errors;
  for (std::string& message : validation::IsValidPathSegmentName(value)) {
    errors.push_back(FieldError::Invalid(path, value, std::move(message)));
  }
  return errors;
}

FieldErrorList ValidateApiVersion(const CrossVersionObjectReference& ref, bool may_be_core,
                                  const FieldPath& path) {
  auto invalid = [&](std::string message) {
    return FieldErrorList{FieldError::Invalid(path, ref.apiVersion, std::move(message))};
  };
  auto slashes = std::count(ref.apiVersion.begin(), ref.apiVersion.end(), '/');
  if (slashes > 1) return invalid("unexpected GroupVersion string: " + ref.apiVersion);
  bool has_group = slashes == 1 && ref.apiVersion.front() != '/';
  if (!has_group && !may_be_core) return invalid("apiVersion must specify API group");
  return {};
}

// `known`: the stored object has the same reference.
FieldErrorList ValidateReference(const CrossVersionObjectReference& ref, bool may_be_core,
                                 bool known, const FieldPath& path) {
  FieldErrorList errors = ValidateSegment(ref.kind, path.Child("kind"));
  Append(errors, ValidateSegment(ref.name, path.Child("name")));
  if (!known) Append(errors, ValidateApiVersion(ref, may_be_core, path.Child("apiVersion")));
  return errors;
}

FieldErrorList ValidateTarget(const MetricTarget& target, const FieldPath& path) {
  FieldErrorList errors;
  if (target.type.empty()) {
    errors.push_back(FieldError::Required(path.Child("type"), "must specify a metric target type"));
  }
  if (target.type != kUtilizationMetricType && target.type != kValueMetricType &&
      target.type != kAverageValueMetricType) {
    errors.push_back(FieldError::Invalid(path.Child("type"), target.type,
                                         "must be either Utilization, Value, or AverageValue"));
  }
  auto positive = [&](std::string_view name, const std::optional<Quantity>& value) {
    if (!value || value->Sign() > 0) return;
    errors.push_back(FieldError::Invalid(path.Child(name), ValueOf(*value), "must be positive"));
  };
  positive("value", target.value);
  positive("averageValue", target.averageValue);
  if (target.averageUtilization && *target.averageUtilization < 1) {
    errors.push_back(FieldError::Invalid(path.Child("averageUtilization"),
                                         *target.averageUtilization, "must be greater than 0"));
  }
  return errors;
}

FieldErrorList ValidateMetricName(const MetricIdentifier& metric, const FieldPath& path) {
  return ValidateSegment(metric.name, path.Child("metric").Child("name"),
                         "must specify a metric name");
}

// Exactly one of the total value and the average per pod must be set.
FieldErrorList ValidateValueOrAverage(const MetricTarget& target, const FieldPath& path) {
  FieldErrorList errors = ValidateTarget(target, path);
  if (!target.value && !target.averageValue) {
    errors.push_back(
        FieldError::Required(path.Child("averageValue"),
                             "must set either a target value for metric or a per-pod target"));
  }
  if (target.value && target.averageValue) {
    errors.push_back(FieldError::Forbidden(
        path.Child("value"), "may not set both a target value for metric and a per-pod target"));
  }
  return errors;
}

// Exactly one of the average per pod and the utilization of requests must be set.
FieldErrorList ValidateResourceTarget(const MetricTarget& target, const FieldPath& path) {
  FieldErrorList errors = ValidateTarget(target, path);
  if (!target.averageUtilization && !target.averageValue) {
    errors.push_back(
        FieldError::Required(path.Child("averageUtilization"),
                             "must set either a target raw value or a target utilization"));
  }
  if (target.averageUtilization && target.averageValue) {
    errors.push_back(
        FieldError::Forbidden(path.Child("averageValue"),
                              "may not set both a target raw value and a target utilization"));
  }
  return errors;
}

FieldErrorList ValidateObjectSource(const ObjectMetricSource& source, bool known,
                                    const FieldPath& path) {
  FieldErrorList errors =
      ValidateReference(source.describedObject, true, known, path.Child("describedObject"));
  Append(errors, ValidateMetricName(source.metric, path));
  FieldPath target = path.Child("target");
  Append(errors, ValidateTarget(source.target, target));
  if (!source.target.value && !source.target.averageValue) {
    errors.push_back(FieldError::Required(target.Child("averageValue"),
                                          "must set either a target value or averageValue"));
  }
  return errors;
}

FieldErrorList ValidatePodsSource(const PodsMetricSource& source, const FieldPath& path) {
  FieldErrorList errors = ValidateMetricName(source.metric, path);
  FieldPath target = path.Child("target");
  Append(errors, ValidateTarget(source.target, target));
  if (!source.target.averageValue || source.target.averageValue->Sign() <= 0) {
    errors.push_back(FieldError::Required(target.Child("averageValue"),
                                          "must specify a positive target averageValue"));
  }
  return errors;
}

FieldErrorList ValidateExternalSource(const ExternalMetricSource& source, const FieldPath& path) {
  FieldErrorList errors = ValidateMetricName(source.metric, path);
  Append(errors, ValidateValueOrAverage(source.target, path.Child("target")));
  return errors;
}

FieldErrorList ValidateResourceSource(const ResourceMetricSource& source, const FieldPath& path) {
  FieldErrorList errors;
  if (source.name.empty()) {
    errors.push_back(FieldError::Required(path.Child("name"), "must specify a resource name"));
  }
  Append(errors, ValidateResourceTarget(source.target, path.Child("target")));
  return errors;
}

FieldErrorList ValidateContainerResourceSource(const ContainerResourceMetricSource& source,
                                               const FieldPath& path) {
  FieldErrorList errors;
  if (source.name.empty()) {
    errors.push_back(FieldError::Required(path.Child("name"), "must specify a resource name"));
  }
  if (source.container.empty()) {
    errors.push_back(FieldError::Required(path.Child("container"), "must specify a container"));
  }
  Append(errors, ValidateResourceTarget(source.target, path.Child("target")));
  return errors;
}

// The field for a metric type; empty for an unknown type.
std::string_view SourceField(const std::string& type) {
  if (type == kObjectMetricSourceType) return "object";
  if (type == kPodsMetricSourceType) return "pods";
  if (type == kResourceMetricSourceType) return "resource";
  if (type == kExternalMetricSourceType) return "external";
  if (type == kContainerResourceMetricSourceType) return "containerResource";
  return "";
}

FieldErrorList ValidateMetric(const MetricSpec& metric, bool known, const FieldPath& path) {
  FieldErrorList errors;
  FieldPath type = path.Child("type");
  if (metric.type.empty()) {
    errors.push_back(FieldError::Required(type, "must specify a metric source type"));
  }
  const std::string_view wanted = SourceField(metric.type);
  if (wanted.empty()) errors.push_back(FieldError::NotSupported(type, metric.type, kSourceTypes));
  // Only the first source is validated: a metric with more than one is invalid anyway.
  std::vector<std::string_view> present;
  auto look = [&](std::string_view name, bool there, auto&& validate) {
    if (!there) return;
    present.push_back(name);
    if (present.size() == 1) Append(errors, validate(path.Child(name)));
  };
  look("object", metric.object.has_value(),
       [&](const FieldPath& at) { return ValidateObjectSource(*metric.object, known, at); });
  look("external", metric.external.has_value(),
       [&](const FieldPath& at) { return ValidateExternalSource(*metric.external, at); });
  look("pods", metric.pods.has_value(),
       [&](const FieldPath& at) { return ValidatePodsSource(*metric.pods, at); });
  look("resource", metric.resource.has_value(),
       [&](const FieldPath& at) { return ValidateResourceSource(*metric.resource, at); });
  look("containerResource", metric.containerResource.has_value(), [&](const FieldPath& at) {
    return ValidateContainerResourceSource(*metric.containerResource, at);
  });
  if (wanted.empty()) {
    errors.push_back(FieldError::NotSupported(type, metric.type, kSourceTypes));
  } else if (std::find(present.begin(), present.end(), wanted) == present.end()) {
    errors.push_back(FieldError::Required(path.Child(wanted),
                                          "must populate information for the given metric source"));
  }
  if (present.size() < 2) return errors;
  for (std::string_view name : present) {
    if (name == wanted) continue;
    errors.push_back(
        FieldError::Forbidden(path.Child(name), "must populate the given metric source only"));
  }
  return errors;
}

FieldErrorList ValidateMetrics(const HorizontalPodAutoscalerSpec& spec,
                               const HorizontalPodAutoscalerSpec* old, const FieldPath& path) {
  FieldErrorList errors;
  bool works_without_pods = false;
  for (size_t i = 0; i < spec.metrics.size(); ++i) {
    const MetricSpec& metric = spec.metrics[i];
    bool known = old != nullptr && i < old->metrics.size() && metric.object &&
                 old->metrics[i].object &&
                 metric.object->describedObject == old->metrics[i].object->describedObject;
    Append(errors, ValidateMetric(metric, known, path.Index(i)));
    works_without_pods |=
        metric.type == kObjectMetricSourceType || metric.type == kExternalMetricSourceType;
  }
  if (spec.minReplicas == 0 && !works_without_pods) {
    errors.push_back(FieldError::Forbidden(
        path,
        "must specify at least one Object or External metric to support scaling to zero replicas"));
  }
  return errors;
}

FieldErrorList ValidatePolicy(const HPAScalingPolicy& policy, const FieldPath& path) {
  FieldErrorList errors;
  if (policy.type != kPodsScalingPolicy && policy.type != kPercentScalingPolicy) {
    errors.push_back(
        FieldError::NotSupported(path.Child("type"), policy.type, {"Percent", "Pods"}));
  }
  if (policy.value <= 0) {
    errors.push_back(
        FieldError::Invalid(path.Child("value"), policy.value, "must be greater than zero"));
  }
  FieldPath period = path.Child("periodSeconds");
  if (policy.periodSeconds <= 0) {
    errors.push_back(
        FieldError::Invalid(period, policy.periodSeconds, "must be greater than zero"));
  }
  if (policy.periodSeconds > kMaxPeriodSeconds) {
    errors.push_back(
        FieldError::Invalid(period, policy.periodSeconds,
                            "must be less than or equal to " + std::to_string(kMaxPeriodSeconds)));
  }
  return errors;
}

FieldErrorList ValidateRules(const HPAScalingRules& rules, const FieldPath& path) {
  FieldErrorList errors;
  if (rules.stabilizationWindowSeconds) {
    int32_t seconds = *rules.stabilizationWindowSeconds;
    FieldPath window = path.Child("stabilizationWindowSeconds");
    if (seconds < 0) {
      errors.push_back(
          FieldError::Invalid(window, seconds, "must be greater than or equal to zero"));
    }
    if (seconds > kMaxStabilizationWindowSeconds) {
      errors.push_back(FieldError::Invalid(
          window, seconds,
          "must be less than or equal to " + std::to_string(kMaxStabilizationWindowSeconds)));
    }
  }
  if (rules.selectPolicy && *rules.selectPolicy != kMaxChangePolicySelect &&
      *rules.selectPolicy != kMinChangePolicySelect &&
      *rules.selectPolicy != kDisabledPolicySelect) {
    errors.push_back(FieldError::NotSupported(path.Child("selectPolicy"), *rules.selectPolicy,
                                              {"Disabled", "Max", "Min"}));
  }
  FieldPath policies = path.Child("policies");
  if (rules.policies.empty()) {
    errors.push_back(FieldError::Required(policies, "must specify at least one Policy"));
  }
  for (size_t i = 0; i < rules.policies.size(); ++i) {
    Append(errors, ValidatePolicy(rules.policies[i], policies.Index(i)));
  }
  if (rules.tolerance && rules.tolerance->Sign() < 0) {
    errors.push_back(FieldError::Invalid(path.Child("tolerance"), ValueOf(*rules.tolerance),
                                         "must be greater than or equal to 0"));
  }
  return errors;
}

}  // namespace

FieldErrorList ValidateHorizontalPodAutoscalerSpec(const HorizontalPodAutoscalerSpec& spec,
                                                   const HorizontalPodAutoscalerSpec* old) {
  FieldPath path("spec");
  FieldErrorList errors;
  // Scaling to zero (HPAScaleToZero) is off, except for objects that already use it.
  const int32_t fewest = old != nullptr && old->minReplicas == 0 ? 0 : 1;
  if (spec.minReplicas && *spec.minReplicas < fewest) {
    errors.push_back(
        FieldError::Invalid(path.Child("minReplicas"), *spec.minReplicas,
                            "must be greater than or equal to " + std::to_string(fewest)));
  }
  if (spec.maxReplicas < 1) {
    errors.push_back(
        FieldError::Required(path.Child("maxReplicas"), "must be set and greater than 0"));
  }
  if (spec.minReplicas && spec.maxReplicas < *spec.minReplicas) {
    errors.push_back(FieldError::Invalid(path.Child("maxReplicas"), spec.maxReplicas,
                                         "must be greater than or equal to `minReplicas`"));
  }
  const CrossVersionObjectReference& target = spec.scaleTargetRef;
  bool known = old != nullptr && target == old->scaleTargetRef;
  Append(errors, ValidateReference(target, target.kind == "ReplicationController", known,
                                   path.Child("scaleTargetRef")));
  Append(errors, ValidateMetrics(spec, old, path.Child("metrics")));
  if (spec.behavior) {
    FieldPath behavior = path.Child("behavior");
    if (spec.behavior->scaleUp) {
      Append(errors, ValidateRules(*spec.behavior->scaleUp, behavior.Child("scaleUp")));
    }
    if (spec.behavior->scaleDown) {
      Append(errors, ValidateRules(*spec.behavior->scaleDown, behavior.Child("scaleDown")));
    }
  }
  return errors;
}

}  // namespace cox::apiserver
