// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/store/strategy.h"
#include "object/validation/field_error.h"

// The rules of pods and of the pod templates in other kinds (Deployment, Job, ...).
//
// All functions are pure. Errors come in the order of the fields, with upstream's texts; the caller
// gives the path at which the part stands in its object.
namespace cox::apiserver {

// Rules that were tightened after objects which break them had been stored. A new object meets them
// all (the default); an update is let off those that the stored object breaks already, so that
// nobody is locked out of an old object by a new rule.
struct PodValidationOptions {
  // This is a pod, not a template: also rules that templates are spared for compatibility.
  bool resource_is_pod = false;
  // Selectors of affinity terms may hold values that no label can have.
  bool allow_invalid_label_value_in_selector = false;
  // So may those of topology spread constraints.
  bool allow_invalid_topology_spread_selector = false;
  // net.* and ipc sysctls in pods that share the host's network or IPC namespace.
  bool allow_namespaced_sysctls_for_host = false;
  // Absolute paths and ".." in the path of a projected service account token.
  bool allow_non_local_projected_token_path = false;
  // Hugepage amounts that are no multiple of the page size.
  bool allow_indivisible_huge_pages = false;
  // Pod deletion costs that are no number.
  bool allow_any_deletion_cost = false;
  // Addresses spelled in a way that was allowed once ("010.0.0.1"), as the stored object has them.
  std::vector<std::string> known_addresses = {};
};

// `old` is the pod or template that is stored, null for a new object.
PodValidationOptions PodValidationOptionsFor(const core::v1::PodSpec* old);

// A whole PodSpec at `path`. `meta` is that of the pod or template around it; it may be null.
FieldErrorList ValidatePodSpec(const core::v1::PodSpec& spec, const meta::v1::ObjectMeta* meta,
                               const FieldPath& path, const PodValidationOptions& options = {});

// A template at `path`: labels, annotations and spec. Other metadata is not looked at.
FieldErrorList ValidatePodTemplateSpec(const core::v1::PodTemplateSpec& pod_template,
                                       const FieldPath& path,
                                       const PodValidationOptions& options = {});

// Defaults that depend on other fields or on the kind around; constant ones are in the API tables
// and set before. Idempotent.
void SetPodSpecDefaults(core::v1::PodSpec& spec);
// As SetPodSpecDefaults, for templates: the same today, kept apart because pods get more.
void SetPodTemplateDefaults(core::v1::PodTemplateSpec& pod_template);

// What a client that wrote this template should be told. `old` is what is stored, null for a new
// object: warnings about a part that did not change are not repeated where upstream leaves them
// out.
Warnings PodTemplateWarnings(const FieldPath& path, const core::v1::PodTemplateSpec& pod_template,
                             const core::v1::PodTemplateSpec* old = nullptr);

// Parts that other kinds have too.

// Taints' counterparts: spec.tolerations, RuntimeClass.scheduling.tolerations.
FieldErrorList ValidateTolerations(const List<core::v1::Toleration>& tolerations,
                                   const FieldPath& path);
// At least one term, each valid: required node affinity of pods and of volumes.
FieldErrorList ValidateNodeSelector(const core::v1::NodeSelector& selector, const FieldPath& path,
                                    bool allow_invalid_label_value = false);
FieldErrorList ValidateNodeSelectorTerm(const core::v1::NodeSelectorTerm& term,
                                        const FieldPath& path,
                                        bool allow_invalid_label_value = false);
// Amounts of cpu, memory, ...: of a container; `pod_claims` are the names of spec.resourceClaims.
FieldErrorList ValidateResourceRequirements(const core::v1::ResourceRequirements& resources,
                                            const std::vector<std::string>* pod_claims,
                                            const FieldPath& path,
                                            const PodValidationOptions& options = {});

}  // namespace cox::apiserver
