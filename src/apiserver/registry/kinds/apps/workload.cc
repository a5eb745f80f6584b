// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apps/workload.h"

#include <utility>
#include <vector>

#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/validation/names.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {

FieldValue ValueOf(const Map<std::string>& labels) {
  if (labels.empty()) return nullptr;
  std::string text = "{";
  for (const auto& [key, value] : labels) {
    if (text.size() > 1) text.push_back(',');
    AppendJsonString(text, key);
    text.push_back(':');
    AppendJsonString(text, value);
  }
  return FieldValue::Json(text + "}");
}

FieldValue ValueOf(const Box<meta::v1::LabelSelector>& selector) {
  if (!selector) return nullptr;
  return FieldValue::Json(json::Encode(*selector));
}

FieldErrorList ValidateTemplateLabels(const labels::Selector& selector,
                                      const core::v1::PodTemplateSpec& pod_template,
                                      const FieldPath& template_path) {
  const Map<std::string>& labels = pod_template.metadata.labels;
  if (selector.Matches(labels)) return {};
  return {FieldError::Invalid(template_path.Child("metadata").Child("labels"), ValueOf(labels),
                              "`selector` does not match template `labels`")};
}

FieldErrorList ValidateAlwaysRestartTemplate(const core::v1::PodTemplateSpec& pod_template,
                                             const FieldPath& template_path,
                                             std::string_view kind) {
  FieldErrorList errors;
  const core::v1::PodSpec& spec = pod_template.spec;
  FieldPath path = template_path.Child("spec");
  if (spec.restartPolicy != "Always") {
    errors.push_back(
        FieldError::NotSupported(path.Child("restartPolicy"), spec.restartPolicy, {"Always"}));
  }
  if (spec.activeDeadlineSeconds) {
    errors.push_back(FieldError::Forbidden(
        path.Child("activeDeadlineSeconds"),
        "activeDeadlineSeconds in " + std::string(kind) + " is not Supported"));
  }
  return errors;
}

FieldErrorList ValidateRequiredSelector(const Box<meta::v1::LabelSelector>& selector,
                                        const FieldPath& path, std::string_view kind) {
  if (!selector) return {FieldError::Required(path)};
  FieldErrorList errors = ValidateLabelSelector(*selector, path);
  if (IsEmptySelector(*selector)) {
    errors.push_back(FieldError::Invalid(path, ValueOf(selector),
                                         "empty selector is invalid for " + std::string(kind)));
  }
  return errors;
}

FieldErrorList ValidateSelectorKept(const Box<meta::v1::LabelSelector>& selector,
                                    const Box<meta::v1::LabelSelector>& old) {
  if (selector == old) return {};
  return {validation::ImmutableField(FieldPath("spec").Child("selector"), ValueOf(selector))};
}

FieldErrorList ValidateReplicaSetTemplate(const labels::Selector& selector,
                                          const core::v1::PodTemplateSpec& pod_template,
                                          const core::v1::PodTemplateSpec* old,
                                          const FieldPath& template_path) {
  FieldErrorList errors;
  // An empty selector is already reported, and it matches all labels.
  if (!selector.Empty()) errors = ValidateTemplateLabels(selector, pod_template, template_path);
  Append(errors,
         ValidatePodTemplateSpec(pod_template, template_path,
                                 PodValidationOptionsFor(old == nullptr ? nullptr : &old->spec)));
  Append(errors, ValidateAlwaysRestartTemplate(pod_template, template_path, "ReplicaSet"));
  return errors;
}

FieldErrorList ValidateCounters(std::initializer_list<Counter> counters, const FieldPath& status) {
  FieldErrorList errors;
  for (const Counter& counter : counters) {
    Append(errors, validation::ValidateNonnegativeField(counter.value, status.Child(counter.name)));
  }
  return errors;
}

FieldErrorList ValidateAtMost(std::initializer_list<Counter> counters, int64_t total,
                              std::string_view total_name, const FieldPath& status) {
  FieldErrorList errors;
  for (const Counter& counter : counters) {
    if (counter.value <= total) continue;
    errors.push_back(FieldError::Invalid(status.Child(counter.name), counter.value,
                                         "cannot be greater than " + std::string(total_name)));
  }
  return errors;
}

FieldErrorList ValidateCollisionCount(std::optional<int32_t> count, const FieldPath& status) {
  return validation::ValidateNonnegativeField(count.value_or(0), status.Child("collisionCount"));
}

FieldErrorList ValidateCollisionCountUpdate(std::optional<int32_t> count,
                                            std::optional<int32_t> old, const FieldPath& status) {
  // Without an old value, any new value is valid.
  if (!old || count.value_or(0) >= *old) return {};
  return {FieldError::Invalid(status.Child("collisionCount"), count.value_or(0),
                              "cannot be decremented")};
}

Warnings WarnOnPodNamePrefix(std::string_view name) {
  validation::Messages messages = validation::IsDNS1123Label(name);
  if (messages.empty()) return {};
  return {
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
      "behavior; a DNS label is recommended: [" +
      Join(messages, " ") + "]"};
}

std::string ContainerNames(const core::v1::PodSpec& spec) {
  std::vector<std::string_view> names;
  for (const core::v1::Container& container : spec.containers) names.push_back(container.name);
  return Join(names, ",");
}

std::string ContainerImages(const core::v1::PodSpec& spec) {
  std::vector<std::string_view> images;
  for (const core::v1::Container& container : spec.containers) images.push_back(container.image);
  return Join(images, ",");
}

std::string SelectorText(const Box<meta::v1::LabelSelector>& selector) {
  Result<labels::Selector> parsed = labels::Selector::FromLabelSelector(selector.get());
  if (!parsed.ok()) return "<error>";
  std::string text = parsed->ToString();
  return text.empty() ? "<none>" : text;
}

std::string LabelsText(const Map<std::string>& labels) {
  if (labels.empty()) return "<none>";
  std::string text;
  for (const auto& [key, value] : labels) {
    if (!text.empty()) text += ',';
    text.append(key).append("=").append(value);
  }
  return text;
}

}  // namespace cox::apiserver
