// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/store/strategy.h"
#include "object/selector/labels.h"
#include "object/type/box.h"
#include "object/type/map.h"
#include "object/validation/field_error.h"

// Common parts of the kinds that create pods: a label selector, a pod template, counters in the
// status, and columns.
//
// Pure functions.
namespace cox::apiserver {

// The values as field errors contain them; null if absent.
FieldValue ValueOf(const Map<std::string>& labels);
FieldValue ValueOf(const Box<meta::v1::LabelSelector>& selector);

// The labels of `pod_template` must match the selector.
FieldErrorList ValidateTemplateLabels(const labels::Selector& selector,
                                      const core::v1::PodTemplateSpec& pod_template,
                                      const FieldPath& template_path);

// A template whose pods run until they are deleted: restartPolicy Always and no deadline. `kind` is
// the owner's kind in the error.
FieldErrorList ValidateAlwaysRestartTemplate(const core::v1::PodTemplateSpec& pod_template,
                                             const FieldPath& template_path, std::string_view kind);

// A required selector: present, valid, not empty. `kind` is the owner's kind in the error.
FieldErrorList ValidateRequiredSelector(const Box<meta::v1::LabelSelector>& selector,
                                        const FieldPath& path, std::string_view kind);

// spec.selector is immutable.
FieldErrorList ValidateSelectorKept(const Box<meta::v1::LabelSelector>& selector,
                                    const Box<meta::v1::LabelSelector>& old);

// Validates labels, template and restart policy, for ReplicaSets and Deployments. `old` is the
// stored template, null for a new object.
FieldErrorList ValidateReplicaSetTemplate(const labels::Selector& selector,
                                          const core::v1::PodTemplateSpec& pod_template,
                                          const core::v1::PodTemplateSpec* old,
                                          const FieldPath& template_path);

// A counter in a status.
struct Counter {
  std::string_view name;
  int64_t value;
};
// None of `counters` may be negative. Errors are in their order.
FieldErrorList ValidateCounters(std::initializer_list<Counter> counters, const FieldPath& status);
// None of `counters` may be greater than `total`, which the message calls `total_name`.
FieldErrorList ValidateAtMost(std::initializer_list<Counter> counters, int64_t total,
                              std::string_view total_name, const FieldPath& status);
// collisionCount must not be negative.
FieldErrorList ValidateCollisionCount(std::optional<int32_t> count, const FieldPath& status);
// collisionCount must not decrease.
FieldErrorList ValidateCollisionCountUpdate(std::optional<int32_t> count,
                                            std::optional<int32_t> old, const FieldPath& status);

// Validates the status of ReplicaSets and ReplicationControllers.
template <class Status>
FieldErrorList ValidateReplicaStatus(const Status& status) {
  const FieldPath path("status");
  FieldErrorList errors = ValidateCounters({{"replicas", status.replicas},
                                            {"fullyLabeledReplicas", status.fullyLabeledReplicas},
                                            {"readyReplicas", status.readyReplicas},
                                            {"availableReplicas", status.availableReplicas}},
                                           path);
  if constexpr (requires { status.terminatingReplicas; }) {
    Append(errors, ValidateCounters(
                       {{"terminatingReplicas", status.terminatingReplicas.value_or(0)}}, path));
  }
  Append(errors, ValidateCounters({{"observedGeneration", status.observedGeneration}}, path));
  Append(errors, ValidateAtMost({{"fullyLabeledReplicas", status.fullyLabeledReplicas},
                                 {"readyReplicas", status.readyReplicas},
                                 {"availableReplicas", status.availableReplicas}},
                                status.replicas, "status.replicas", path));
  Append(errors, ValidateAtMost({{"availableReplicas", status.availableReplicas}},
                                status.readyReplicas, "readyReplicas", path));
  return errors;
}

// For names that become the prefix of pod names: warns if the host names of pods will not be valid
// DNS labels.
Warnings WarnOnPodNamePrefix(std::string_view name);

// The warnings about the pod template at spec.template of a new object (`old` is null) or of one
// whose generation has changed.
template <class T>
Warnings WarnOnTemplate(const T& object, const T* old) {
  if (old != nullptr && old->metadata.generation == object.metadata.generation) return {};
  return PodTemplateWarnings(FieldPath("spec").Child("template"), object.spec.template_,
                             old == nullptr ? nullptr : &old->spec.template_);
}
// The warnings about the name of a new object, followed by those about the template.
template <class T>
Warnings WarnOnNameAndTemplate(const T& object, const T* old) {
  Warnings warnings;
  if (old == nullptr) warnings = WarnOnPodNamePrefix(object.metadata.name);
  for (std::string& text : WarnOnTemplate(object, old)) warnings.push_back(std::move(text));
  return warnings;
}

// Cells of tables.
std::string ContainerNames(const core::v1::PodSpec& spec);               // "web,proxy"
std::string ContainerImages(const core::v1::PodSpec& spec);              // "nginx:1,envoy:2"
std::string SelectorText(const Box<meta::v1::LabelSelector>& selector);  // "app=a", "<none>"
std::string LabelsText(const Map<std::string>& labels);                  // the same
inline constexpr Column kContainersColumn = {.name = "Containers", .type = "string", .priority = 1};
inline constexpr Column kImagesColumn = {.name = "Images", .type = "string", .priority = 1};
inline constexpr Column kSelectorColumn = {.name = "Selector", .type = "string", .priority = 1};
// Columns of ReplicaSets and ReplicationControllers.
inline constexpr Column kReplicaColumns[] = {
    kNameColumn,
    {.name = "Desired", .type = "integer"},
    {.name = "Current", .type = "integer"},
    {.name = "Ready", .type = "integer"},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

}  // namespace cox::apiserver
