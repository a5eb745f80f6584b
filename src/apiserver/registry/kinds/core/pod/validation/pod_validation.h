// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/store/strategy.h"
#include "object/validation/field_error.h"

// Validation of pods and of pod templates in other kinds (Deployment, Job, ...).
//
// All functions are pure. Errors are in the order of the fields, with upstream's texts; the caller
// passes the path of the part in its object.
namespace cox::apiserver {

// Exemptions from rules that were added after objects which violate them had been stored. A new
// object must follow all rules (the default); an update is exempt from the rules that the stored
// object already violates, so that old objects can still be updated.
struct PodValidationOptions {
  // The object is a pod, not a template: enables rules that do not apply to templates for
  // compatibility.
  bool resource_is_pod = false;
  // Selectors of affinity terms may contain invalid label values.
  bool allow_invalid_label_value_in_selector = false;
  // Selectors of topology spread constraints may contain invalid label values.
  bool allow_invalid_topology_spread_selector = false;
  // net.* and ipc sysctls in pods that share the host's network or IPC namespace.
  bool allow_namespaced_sysctls_for_host = false;
  // Absolute paths and ".." in the path of a projected service account token.
  bool allow_non_local_projected_token_path = false;
  // Hugepage quantities that are not a multiple of the page size.
  bool allow_indivisible_huge_pages = false;
  // Pod deletion costs that are not a number.
  bool allow_any_deletion_cost = false;
  // Addresses of the stored object in a spelling that was allowed earlier ("010.0.0.1").
  std::vector<std::string> known_addresses = {};
};

// `old` is the stored pod or template, null for a new object.
PodValidationOptions PodValidationOptionsFor(const core::v1::PodSpec* old);

// Validates a PodSpec at `path`. `meta` is that of the pod or template; it may be null.
FieldErrorList ValidatePodSpec(const core::v1::PodSpec& spec, const meta::v1::ObjectMeta* meta,
                               const FieldPath& path, const PodValidationOptions& options = {});

// Validates a template at `path`: labels, annotations and spec, but no other metadata.
FieldErrorList ValidatePodTemplateSpec(const core::v1::PodTemplateSpec& pod_template,
                                       const FieldPath& path,
                                       const PodValidationOptions& options = {});

// Sets defaults that depend on other fields or on the kind; constant defaults are in the API tables
// and already set. Idempotent.
void SetPodSpecDefaults(core::v1::PodSpec& spec);
// The same for templates. A separate function, because pods get more defaults.
void SetPodTemplateDefaults(core::v1::PodTemplateSpec& pod_template);

// Warnings about a template. `old` is the stored template, null for a new object: warnings about an
// unchanged part are not repeated where upstream omits them.
Warnings PodTemplateWarnings(const FieldPath& path, const core::v1::PodTemplateSpec& pod_template,
                             const core::v1::PodTemplateSpec* old = nullptr);

// Parts that other kinds have, too.

// Validates spec.tolerations and RuntimeClass.scheduling.tolerations.
FieldErrorList ValidateTolerations(const List<core::v1::Toleration>& tolerations,
                                   const FieldPath& path);
// At least one term, each valid: for required node affinity of pods and volumes.
FieldErrorList ValidateNodeSelector(const core::v1::NodeSelector& selector, const FieldPath& path,
                                    bool allow_invalid_label_value = false);
FieldErrorList ValidateNodeSelectorTerm(const core::v1::NodeSelectorTerm& term,
                                        const FieldPath& path,
                                        bool allow_invalid_label_value = false);
// Validates requests and limits of a container; `pod_claims` are the names of spec.resourceClaims.
FieldErrorList ValidateResourceRequirements(const core::v1::ResourceRequirements& resources,
                                            const std::vector<std::string>* pod_claims,
                                            const FieldPath& path,
                                            const PodValidationOptions& options = {});

}  // namespace cox::apiserver
