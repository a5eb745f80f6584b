// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "api/batch/v1.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/batch/job_validation.h"
#include "apiserver/registry/kinds/batch/strategies.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/store/spec_and_status.h"

namespace cox::apiserver {
namespace {

using batch::v1::Job;
using batch::v1::JobSpec;
using batch::v1::JobStatus;

constexpr int32_t kDefaultBackoffLimit = 6;
constexpr int32_t kManyCompletions = 100'000;
constexpr int32_t kMuchParallelism = 10'000;

void SetSpecDefaults(JobSpec& spec) {
  // Without both numbers one pod must succeed; with parallelism alone the pods determine when the
  // work is done.
  if (!spec.completions && !spec.parallelism) spec.completions = 1;
  if (!spec.parallelism) spec.parallelism = 1;
  if (!spec.backoffLimit) {
    spec.backoffLimit =
        spec.backoffLimitPerIndex ? std::numeric_limits<int32_t>::max() : kDefaultBackoffLimit;
  }
  if (!spec.completionMode) spec.completionMode = batch::v1::kNonIndexedCompletion;
  if (!spec.suspend) spec.suspend = false;
  if (!spec.podReplacementPolicy) {
    spec.podReplacementPolicy =
        spec.podFailurePolicy ? batch::v1::kFailed : batch::v1::kTerminatingOrFailed;
  }
  if (!spec.manualSelector) spec.manualSelector = false;
  if (spec.podFailurePolicy) SetPodFailurePolicyDefaults(*spec.podFailurePolicy);
  SetPodTemplateDefaults(spec.template_);
}

void TakeLabelsFromTemplate(Job& job) {
  if (job.metadata.labels.empty()) job.metadata.labels = job.spec.template_.metadata.labels;
}

// The selector uses the uid of the Job, which is unique.
void GenerateSelector(Job& job) {
  if (job.spec.manualSelector.value_or(false)) return;
  const std::string& uid = job.metadata.uid;
  Map<std::string>& labels = job.spec.template_.metadata.labels;
  // Existing labels are kept: validation rejects wrong ones.
  for (std::string_view key : {kLegacyControllerUidLabel, kControllerUidLabel}) {
    if (!labels.contains(key)) labels[key] = uid;
  }
  for (std::string_view key : {kLegacyJobNameLabel, kJobNameLabel}) {
    if (!labels.contains(key)) labels[key] = job.metadata.name;
  }
  Map<std::string>& wanted = job.spec.selector.ensure().matchLabels;
  if (!wanted.contains(kControllerUidLabel)) wanted[kControllerUidLabel] = uid;
}

bool HasTrue(const JobStatus& status, std::string_view type) {
  return std::any_of(status.conditions.begin(), status.conditions.end(),
                     [&](const batch::v1::JobCondition& condition) {
                       return condition.type == type && condition.status == "True";
                     });
}

std::string StatusText(const Job& job) {
  for (const char* type : {batch::v1::kJobComplete, batch::v1::kJobFailed}) {
    if (HasTrue(job.status, type)) return type;
  }
  if (job.metadata.deletionTimestamp) return "Terminating";
  for (const char* type : {batch::v1::kJobSuspended, batch::v1::kJobFailureTarget,
                           batch::v1::kJobSuccessCriteriaMet}) {
    if (HasTrue(job.status, type)) return type;
  }
  return "Running";
}

std::string CompletionsText(const Job& job) {
  std::string succeeded = std::to_string(job.status.succeeded);
  if (job.spec.completions) return succeeded + "/" + std::to_string(*job.spec.completions);
  int32_t parallelism = job.spec.parallelism.value_or(0);
  if (parallelism > 1) return succeeded + "/1 of " + std::to_string(parallelism);
  return succeeded + "/1";
}

std::string DurationText(const Job& job, const Time& now) {
  if (!job.status.startTime) return "";
  const Time& end = job.status.completionTime ? *job.status.completionTime : now;
  return HumanDuration(end.unix_seconds() - job.status.startTime->unix_seconds());
}

class JobStatusStrategy final : public PlainStatusStrategy<Job> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const Job& object,
                             const Job& old) const override {
    return ValidateJobStatusUpdate(object, old);
  }
};

class JobStrategy final : public SpecAndStatusStrategy<Job, JobStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "jobs"; }

  Warnings WarnOnDelete(const meta::v1::DeleteOptions& options) const override {
    if (options.propagationPolicy || options.orphanDependents) return {};
    return {
        "child pods are preserved by default when jobs are deleted; set "
        "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
        "this warning"};
  }
  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"status.successful"};
    return kNames;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Status", .type = "string"},
        {.name = "Completions", .type = "string"},
        {.name = "Duration", .type = "string"},
        kAgeColumn,
        kContainersColumn,
        kImagesColumn,
        kSelectorColumn,
    };
    return kColumns;
  }

 protected:
  void Default(Job& object) const override {
    SetSpecDefaults(object.spec);
    TakeLabelsFromTemplate(object);
  }

  void PrepareCreate(const WriteContext& w, Job& object) const override {
    SpecAndStatusStrategy::PrepareCreate(w, object);
    GenerateSelector(object);
  }

  FieldErrorList Check(const WriteContext&, const Job& object) const override {
    return ValidateJob(object, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Job& object,
                             const Job& old) const override {
    FieldErrorList errors = ValidateJob(object, &old);
    Append(errors, ValidateJobUpdate(object, old));
    return errors;
  }

  Warnings Warn(const WriteContext&, const Job& object, const Job* old) const override {
    Warnings warnings = WarnOnNameAndTemplate(object, old);
    const JobSpec& spec = object.spec;
    if (old == nullptr && IsIndexed(spec) && spec.completions.value_or(0) > kManyCompletions &&
        spec.parallelism.value_or(0) > kMuchParallelism) {
      warnings.push_back(
          "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher "
          "than 10^4, Kubernetes might not be able to track completedIndexes when a big number of "
          "indexes fail");
    }
    return warnings;
  }

  // A Job without labels gets the labels of its template.
  void Normalize(Job& object) const override { TakeLabelsFromTemplate(object); }

  FieldPairs FieldsOf(const Job& object) const override {
    return {{"status.successful", std::to_string(object.status.succeeded)}};
  }

  // By default, deletion of a Job keeps its pods and their logs.
  Propagation PropagationOf(const Job&) const override { return Propagation::kOrphan; }

  Cells RowOf(const Job& object, const Time& now) const override {
    const core::v1::PodSpec& pod = object.spec.template_.spec;
    return {object.metadata.name,
            StatusText(object),
            CompletionsText(object),
            DurationText(object, now),
            Age(object.metadata.creationTimestamp, now),
            ContainerNames(pod),
            ContainerImages(pod),
            SelectorText(object.spec.selector)};
  }
};

}  // namespace

void SetPodFailurePolicyDefaults(batch::v1::PodFailurePolicy& policy) {
  for (batch::v1::PodFailurePolicyRule& rule : policy.rules) {
    for (auto& condition : rule.onPodConditions) {
      if (condition.status.empty()) condition.status = "True";
    }
  }
}

StrategyPtr NewJobStrategy() { return std::make_unique<JobStrategy>(); }

}  // namespace cox::apiserver
