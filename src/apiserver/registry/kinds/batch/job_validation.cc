// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/batch/job_validation.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/batch/pod_template_value.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "object/type/equal.h"
#include "object/validation/names.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using batch::v1::Job;
using batch::v1::JobSpec;

// The status contains completion indexes as text. These limits bound the size of that text and the
// work of the controller.
constexpr int32_t kMaxIndexedParallelism = 100'000;
constexpr int32_t kMaxFailedIndexes = 100'000;
constexpr int32_t kManyCompletions = 100'000;
constexpr int32_t kMaxParallelismForManyCompletions = 10'000;
constexpr int32_t kMaxFailedIndexesForManyCompletions = 10'000;
constexpr size_t kMaxManagedByLength = 63;

// A policy as errors contain it. The list of rules is required, so an empty one is [] and not null.
template <class Policy>
FieldValue PolicyValue(const Policy& policy) {
  return policy.rules.empty() ? FieldValue::Json(R"({"Rules":[]})") : InternalValue(policy);
}

FieldErrorList ValidateNumbers(const JobSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  auto check = [&](std::string_view name, auto value) {
    if (value) Append(errors, validation::ValidateNonnegativeField(*value, path.Child(name)));
  };
  check("parallelism", spec.parallelism);
  check("completions", spec.completions);
  check("activeDeadlineSeconds", spec.activeDeadlineSeconds);
  check("backoffLimit", spec.backoffLimit);
  check("ttlSecondsAfterFinished", spec.ttlSecondsAfterFinished);
  check("backoffLimitPerIndex", spec.backoffLimitPerIndex);
  check("maxFailedIndexes", spec.maxFailedIndexes);
  if (spec.maxFailedIndexes && !spec.backoffLimitPerIndex) {
    errors.push_back(FieldError::Required(path.Child("backoffLimitPerIndex"),
                                          "when maxFailedIndexes is specified"));
  }
  return errors;
}

FieldErrorList ValidateManagedBy(const std::string& managed_by, const FieldPath& path) {
  FieldErrorList errors = validation::IsDomainPrefixedPath(path, managed_by);
  if (managed_by.size() > kMaxManagedByLength) {
    errors.push_back(FieldError::TooLong(path, kMaxManagedByLength));
  }
  return errors;
}

// Limits for many indexes with a backoff limit per index.
FieldErrorList ValidateManyCompletions(const JobSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  auto limit = [](int32_t max) {
    return "must be less than or equal to " + std::to_string(max) + " when completions are above " +
           std::to_string(kManyCompletions) + " and used with backoff limit per index";
  };
  FieldPath failed = path.Child("maxFailedIndexes");
  if (!spec.maxFailedIndexes) {
    errors.push_back(FieldError::Required(
        failed, "must be specified when completions is above " + std::to_string(kManyCompletions)));
  }
  if (spec.parallelism && *spec.parallelism > kMaxParallelismForManyCompletions) {
    errors.push_back(FieldError::Invalid(path.Child("parallelism"), *spec.parallelism,
                                         limit(kMaxParallelismForManyCompletions)));
  }
  if (spec.maxFailedIndexes && *spec.maxFailedIndexes > kMaxFailedIndexesForManyCompletions) {
    errors.push_back(FieldError::Invalid(failed, *spec.maxFailedIndexes,
                                         limit(kMaxFailedIndexesForManyCompletions)));
  }
  return errors;
}

FieldErrorList ValidateIndexed(const JobSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  if (!spec.completions) {
    errors.push_back(
        FieldError::Required(path.Child("completions"), "when completion mode is Indexed"));
  }
  if (spec.parallelism && *spec.parallelism > kMaxIndexedParallelism) {
    errors.push_back(FieldError::Invalid(path.Child("parallelism"), *spec.parallelism,
                                         "must be less than or equal to " +
                                             std::to_string(kMaxIndexedParallelism) +
                                             " when completion mode is Indexed"));
  }
  FieldPath failed = path.Child("maxFailedIndexes");
  if (spec.completions && spec.maxFailedIndexes && *spec.maxFailedIndexes > *spec.completions) {
    errors.push_back(FieldError::Invalid(failed, *spec.maxFailedIndexes,
                                         "must be less than or equal to completions"));
  }
  if (spec.maxFailedIndexes && *spec.maxFailedIndexes > kMaxFailedIndexes) {
    errors.push_back(
        FieldError::Invalid(failed, *spec.maxFailedIndexes,
                            "must be less than or equal to " + std::to_string(kMaxFailedIndexes)));
  }
  if (spec.completions && *spec.completions > kManyCompletions && spec.backoffLimitPerIndex) {
    Append(errors, ValidateManyCompletions(spec, path));
  }
  return errors;
}

FieldErrorList ValidateCompletionMode(const JobSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  if (IsIndexed(spec)) return ValidateIndexed(spec, path);
  if (spec.completionMode && *spec.completionMode != batch::v1::kNonIndexedCompletion) {
    errors.push_back(FieldError::NotSupported(path.Child("completionMode"), *spec.completionMode,
                                              {"NonIndexed", "Indexed"}));
    return errors;
  }
  auto check = [&](std::string_view name, const std::optional<int32_t>& value) {
    if (!value) return;
    errors.push_back(
        FieldError::Invalid(path.Child(name), *value, "requires indexed completion mode"));
  };
  check("backoffLimitPerIndex", spec.backoffLimitPerIndex);
  check("maxFailedIndexes", spec.maxFailedIndexes);
  return errors;
}

FieldErrorList ValidatePolicies(const JobSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  if (spec.podFailurePolicy) {
    Append(errors, ValidatePodFailurePolicy(spec, path.Child("podFailurePolicy")));
  }
  if (spec.successPolicy) {
    FieldPath success = path.Child("successPolicy");
    if (IsIndexed(spec)) {
      Append(errors, ValidateSuccessPolicy(spec, success));
    } else {
      errors.push_back(FieldError::Invalid(success, PolicyValue(*spec.successPolicy),
                                           "requires indexed completion mode"));
    }
  }
  if (spec.podReplacementPolicy) {
    FieldPath replacement = path.Child("podReplacementPolicy");
    const std::string& policy = *spec.podReplacementPolicy;
    if (spec.podFailurePolicy) {
      // With a failure policy, pods are replaced only after they have failed.
      if (policy != batch::v1::kFailed) {
        errors.push_back(FieldError::NotSupported(replacement, policy, {"Failed"}));
      }
    } else if (policy != batch::v1::kFailed && policy != batch::v1::kTerminatingOrFailed) {
      errors.push_back(
          FieldError::NotSupported(replacement, policy, {"Failed", "TerminatingOrFailed"}));
    }
  }
  return errors;
}

FieldErrorList ValidateRestartPolicy(const JobSpec& spec, const FieldPath& path) {
  const std::string& policy = spec.template_.spec.restartPolicy;
  // Always is the default of pod templates.
  if (policy.empty() || policy == "Always") {
    return {FieldError::Required(path, R"(valid values: "OnFailure", "Never")")};
  }
  if (policy != "OnFailure" && policy != "Never") {
    return {FieldError::NotSupported(path, policy, {"OnFailure", "Never"})};
  }
  if (spec.podFailurePolicy && policy != "Never") {
    return {FieldError::Invalid(path, policy,
                                R"(only "Never" is supported when podFailurePolicy is specified)")};
  }
  return {};
}

FieldErrorList ValidateHasLabel(const meta::v1::ObjectMeta& meta, const FieldPath& path,
                                std::string_view key, std::string_view want) {
  const std::string* value = meta.labels.Get(key);
  FieldPath at = path.Child("labels").Key(key);
  std::string must = "must be '" + std::string(want) + "'";
  if (value == nullptr) return {FieldError::Required(at, must)};
  if (*value != want) return {FieldError::Invalid(at, ValueOf(meta.labels), must)};
  return {};
}

// The generated labels and selector must be present and unchanged.
FieldErrorList ValidateGeneratedSelector(const Job& job) {
  FieldErrorList errors;
  if (job.spec.manualSelector.value_or(false) || !job.spec.selector) return errors;
  const std::string& uid = job.metadata.uid;
  const std::string& name = job.metadata.name;
  if (uid.empty()) errors.push_back(FieldError::Required(FieldPath("metadata").Child("uid")));
  FieldPath path = FieldPath("spec").Child("template").Child("metadata");
  const meta::v1::ObjectMeta& meta = job.spec.template_.metadata;
  Append(errors, ValidateHasLabel(meta, path, kLegacyControllerUidLabel, uid));
  Append(errors, ValidateHasLabel(meta, path, kLegacyJobNameLabel, name));
  Append(errors, ValidateHasLabel(meta, path, kControllerUidLabel, uid));
  Append(errors, ValidateHasLabel(meta, path, kJobNameLabel, name));
  const Map<std::string> labels = {{std::string(kLegacyControllerUidLabel), uid},
                                   {std::string(kLegacyJobNameLabel), name},
                                   {std::string(kControllerUidLabel), uid},
                                   {std::string(kJobNameLabel), name}};
  auto selector = labels::Selector::FromLabelSelector(job.spec.selector.get());
  if (selector.ok() && !selector->Matches(labels)) {
    errors.push_back(FieldError::Invalid(FieldPath("spec").Child("selector"),
                                         ValueOf(job.spec.selector),
                                         "`selector` not auto-generated"));
  }
  return errors;
}

FieldErrorList ValidateCompletionsUpdate(const JobSpec& spec, const JobSpec& old,
                                         const FieldPath& path) {
  if (spec.completions == old.completions) return {};
  FieldPath at = path.Child("completions");
  FieldValue value = spec.completions ? FieldValue(*spec.completions) : FieldValue(nullptr);
  if (!IsIndexed(spec) || !spec.completions || !old.completions) {
    return {validation::ImmutableField(at, std::move(value))};
  }
  // Elastic Jobs: completions equals parallelism before and after.
  if (spec.completions == spec.parallelism) return {};
  return {FieldError::Invalid(at, std::move(value),
                              "can only be modified in tandem with spec.parallelism")};
}

void CopyResources(const List<core::v1::Container>& from, List<core::v1::Container>& to) {
  if (from.size() != to.size()) return;
  for (size_t i = 0; i < from.size(); ++i) to[i].resources = from[i].resources;
}

// Copies the fields that may change while a Job is suspended and has no pods: scheduling directives
// and resources. Job queueing controllers rely on this.
core::v1::PodTemplateSpec WithSchedulingOf(const core::v1::PodTemplateSpec& from,
                                           core::v1::PodTemplateSpec to) {
  const core::v1::PodSpec& want = from.spec;
  core::v1::PodSpec& spec = to.spec;
  if (want.affinity || spec.affinity) {
    core::v1::Affinity& affinity = spec.affinity.ensure();
    affinity.nodeAffinity =
        want.affinity ? want.affinity->nodeAffinity : Box<core::v1::NodeAffinity>();
    bool empty = !affinity.nodeAffinity && !affinity.podAffinity && !affinity.podAntiAffinity;
    if (empty && !want.affinity) spec.affinity.reset();
  }
  spec.nodeSelector = want.nodeSelector;
  spec.tolerations = want.tolerations;
  spec.schedulingGates = want.schedulingGates;
  CopyResources(want.containers, spec.containers);
  CopyResources(want.initContainers, spec.initContainers);
  to.metadata.annotations = from.metadata.annotations;
  to.metadata.labels = from.metadata.labels;
  return to;
}

FieldErrorList ValidateTemplateUpdate(const Job& job, const Job& old, const FieldPath& path) {
  const core::v1::PodTemplateSpec& now = job.spec.template_;
  bool waiting =
      old.spec.suspend.value_or(false) && (!old.status.startTime || old.status.active == 0);
  bool same = waiting ? DeepEqual(now, WithSchedulingOf(now, old.spec.template_))
                      : DeepEqual(now, old.spec.template_);
  if (same) return {};
  return {validation::ImmutableField(path.Child("template"), PodTemplateValue(now))};
}

template <class T>
FieldValue OptionalValue(const std::optional<T>& value) {
  return value ? FieldValue(*value) : FieldValue(nullptr);
}

}  // namespace

bool IsIndexed(const JobSpec& spec) {
  return spec.completionMode && *spec.completionMode == batch::v1::kIndexedCompletion;
}

FieldErrorList ValidateJobSpecWithoutSelector(const JobSpec& spec, const JobSpec* old,
                                              const FieldPath& path) {
  FieldErrorList errors = ValidateNumbers(spec, path);
  if (spec.managedBy) {
    Append(errors, ValidateManagedBy(*spec.managedBy, path.Child("managedBy")));
  }
  Append(errors, ValidateCompletionMode(spec, path));
  Append(errors, ValidatePolicies(spec, path));
  FieldPath template_path = path.Child("template");
  Append(errors, ValidatePodTemplateSpec(
                     spec.template_, template_path,
                     PodValidationOptionsFor(old == nullptr ? nullptr : &old->template_.spec)));
  Append(errors, ValidateRestartPolicy(spec, template_path.Child("spec").Child("restartPolicy")));
  return errors;
}

FieldErrorList ValidateJobSpec(const JobSpec& spec, const JobSpec* old, const FieldPath& path) {
  FieldErrorList errors = ValidateJobSpecWithoutSelector(spec, old, path);
  FieldPath selector_path = path.Child("selector");
  if (!spec.selector) {
    errors.push_back(FieldError::Required(selector_path));
  } else {
    Append(errors, ValidateLabelSelector(*spec.selector, selector_path));
  }
  if (auto selector = labels::Selector::FromLabelSelector(spec.selector.get()); selector.ok()) {
    Append(errors, ValidateTemplateLabels(*selector, spec.template_, path.Child("template")));
  }
  return errors;
}

FieldErrorList ValidateJob(const Job& job, const Job* old) {
  FieldErrorList errors = ValidateGeneratedSelector(job);
  Append(errors,
         ValidateJobSpec(job.spec, old == nullptr ? nullptr : &old->spec, FieldPath("spec")));
  int32_t completions = job.spec.completions.value_or(0);
  if (IsIndexed(job.spec) && completions > 0) {
    // The index is part of the host name; the last one is the longest.
    std::string host = job.metadata.name + "-" + std::to_string(completions - 1);
    if (!validation::IsDNS1123Label(host).empty()) {
      errors.push_back(
          FieldError::Invalid(FieldPath("metadata").Child("name"), job.metadata.name,
                              "will not able to create pod with invalid DNS hostname: " + host));
    }
  }
  return errors;
}

FieldErrorList ValidateJobUpdate(const Job& job, const Job& old) {
  FieldPath path("spec");
  const JobSpec& spec = job.spec;
  FieldErrorList errors = ValidateJobSpec(spec, &old.spec, path);
  Append(errors, ValidateCompletionsUpdate(spec, old.spec, path));
  auto immutable = [&](std::string_view name, bool same, FieldValue value) {
    if (same) return;
    errors.push_back(validation::ImmutableField(path.Child(name), std::move(value)));
  };
  immutable("selector", spec.selector == old.spec.selector, ValueOf(spec.selector));
  Append(errors, ValidateTemplateUpdate(job, old, path));
  immutable("completionMode", spec.completionMode == old.spec.completionMode,
            OptionalValue(spec.completionMode));
  immutable("podFailurePolicy", spec.podFailurePolicy == old.spec.podFailurePolicy,
            spec.podFailurePolicy ? PolicyValue(*spec.podFailurePolicy) : FieldValue(nullptr));
  immutable("backoffLimitPerIndex", spec.backoffLimitPerIndex == old.spec.backoffLimitPerIndex,
            OptionalValue(spec.backoffLimitPerIndex));
  immutable("managedBy", spec.managedBy == old.spec.managedBy, OptionalValue(spec.managedBy));
  immutable("successPolicy", spec.successPolicy == old.spec.successPolicy,
            spec.successPolicy ? PolicyValue(*spec.successPolicy) : FieldValue(nullptr));
  return errors;
}

}  // namespace cox::apiserver
