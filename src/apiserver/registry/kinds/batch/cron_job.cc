// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "api/batch/v1.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/batch/cron_schedule.h"
#include "apiserver/registry/kinds/batch/job_validation.h"
#include "apiserver/registry/kinds/batch/strategies.h"
#include "apiserver/registry/kinds/batch/time_zones.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using batch::v1::CronJob;
using batch::v1::CronJobSpec;
using batch::v1::JobTemplateSpec;

// Jobs are named <name>-<minutes since 1970>, and pods after their Job: 11 of the 63 characters.
constexpr size_t kMaxNameLength = 52;

bool NamesZone(const std::string& schedule) { return schedule.find("TZ") != std::string::npos; }

FieldErrorList ValidateSchedule(const CronJobSpec& spec, const CronJobSpec* old,
                                const FieldPath& path) {
  if (spec.schedule.empty()) return {FieldError::Required(path)};
  FieldErrorList errors;
  if (auto parsed = CronSchedule::Parse(spec.schedule); !parsed.ok()) {
    errors.push_back(FieldError::Invalid(path, spec.schedule, parsed.status().message()));
  }
  if (!NamesZone(spec.schedule)) return errors;
  // A time zone in the schedule is allowed only if the stored schedule has one.
  if (old == nullptr || !NamesZone(old->schedule)) {
    errors.push_back(FieldError::Invalid(
        path, spec.schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (spec.timeZone) {
    errors.push_back(FieldError::Invalid(
        path, spec.schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"));
  }
  return errors;
}

FieldErrorList ValidateTimeZone(const std::optional<std::string>& zone, const FieldPath& path) {
  if (!zone) return {};
  auto invalid = [&](std::string message) {
    return FieldErrorList{FieldError::Invalid(path, *zone, std::move(message))};
  };
  if (zone->empty()) return invalid("timeZone must be nil or non-empty string");
  std::string lower = *zone;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "local") {
    return invalid(
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  if (!IsTimeZone(*zone)) return invalid("unknown time zone " + *zone);
  return {};
}

FieldErrorList ValidateConcurrencyPolicy(const std::string& policy, const FieldPath& path) {
  if (policy.empty()) return {FieldError::Required(path)};
  if (policy == batch::v1::kAllowConcurrent || policy == batch::v1::kForbidConcurrent ||
      policy == batch::v1::kReplaceConcurrent) {
    return {};
  }
  return {FieldError::NotSupported(path, policy, {"Allow", "Forbid", "Replace"})};
}

FieldErrorList ValidateJobTemplate(const JobTemplateSpec& job, const JobTemplateSpec* old,
                                   const FieldPath& path) {
  FieldPath spec_path = path.Child("spec");
  FieldErrorList errors =
      ValidateJobSpecWithoutSelector(job.spec, old == nullptr ? nullptr : &old->spec, spec_path);
  if (job.spec.selector) {
    errors.push_back(FieldError::Invalid(spec_path.Child("selector"), ValueOf(job.spec.selector),
                                         "`selector` will be auto-generated"));
  }
  if (job.spec.manualSelector.value_or(false)) {
    errors.push_back(
        FieldError::NotSupported(spec_path.Child("manualSelector"), true, {"nil", "false"}));
  }
  return errors;
}

FieldErrorList ValidateSpec(const CronJobSpec& spec, const CronJobSpec* old) {
  FieldPath path("spec");
  FieldErrorList errors = ValidateSchedule(spec, old, path.Child("schedule"));
  Append(errors, validation::ValidateNonnegativeField(spec.startingDeadlineSeconds.value_or(0),
                                                      path.Child("startingDeadlineSeconds")));
  // A stored time zone may come from another version of the database.
  if (old == nullptr || old->timeZone != spec.timeZone) {
    Append(errors, ValidateTimeZone(spec.timeZone, path.Child("timeZone")));
  }
  Append(errors,
         ValidateConcurrencyPolicy(spec.concurrencyPolicy, path.Child("concurrencyPolicy")));
  Append(errors, ValidateJobTemplate(spec.jobTemplate, old == nullptr ? nullptr : &old->jobTemplate,
                                     path.Child("jobTemplate")));
  Append(errors, validation::ValidateNonnegativeField(spec.successfulJobsHistoryLimit.value_or(0),
                                                      path.Child("successfulJobsHistoryLimit")));
  Append(errors, validation::ValidateNonnegativeField(spec.failedJobsHistoryLimit.value_or(0),
                                                      path.Child("failedJobsHistoryLimit")));
  return errors;
}

class CronJobStrategy final : public SpecAndStatusStrategy<CronJob> {
 public:
  std::string_view storage_prefix() const override { return "cronjobs"; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Schedule", .type = "string"},
        {.name = "Timezone", .type = "string"},
        {.name = "Suspend", .type = "boolean"},
        {.name = "Active", .type = "integer"},
        {.name = "Last Schedule", .type = "string"},
        kAgeColumn,
        kContainersColumn,
        kImagesColumn,
        kSelectorColumn,
    };
    return kColumns;
  }

 protected:
  void Default(CronJob& object) const override {
    CronJobSpec& spec = object.spec;
    if (spec.concurrencyPolicy.empty()) spec.concurrencyPolicy = batch::v1::kAllowConcurrent;
    if (!spec.suspend) spec.suspend = false;
    if (!spec.successfulJobsHistoryLimit) spec.successfulJobsHistoryLimit = 3;
    if (!spec.failedJobsHistoryLimit) spec.failedJobsHistoryLimit = 1;
    // The other defaults of Jobs are set when a Job is created from the template.
    batch::v1::JobSpec& job = spec.jobTemplate.spec;
    if (job.podFailurePolicy) SetPodFailurePolicyDefaults(*job.podFailurePolicy);
    SetPodTemplateDefaults(job.template_);
  }

  FieldErrorList Check(const WriteContext&, const CronJob& object) const override {
    FieldErrorList errors = ValidateSpec(object.spec, nullptr);
    if (object.metadata.name.size() > kMaxNameLength) {
      errors.push_back(FieldError::Invalid(
          FieldPath("metadata").Child("name"), object.metadata.name,
          "must be no more than " + std::to_string(kMaxNameLength) + " characters"));
    }
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const CronJob& object,
                             const CronJob& old) const override {
    return ValidateSpec(object.spec, &old.spec);
  }

  Warnings Warn(const WriteContext&, const CronJob& object, const CronJob* old) const override {
    Warnings warnings;
    if (old == nullptr) warnings = WarnOnPodNamePrefix(object.metadata.name);
    if (old == nullptr || old->metadata.generation != object.metadata.generation) {
      FieldPath path = FieldPath("spec").Child("jobTemplate").Child("spec").Child("template");
      for (std::string& text :
           PodTemplateWarnings(path, object.spec.jobTemplate.spec.template_,
                               old == nullptr ? nullptr : &old->spec.jobTemplate.spec.template_)) {
        warnings.push_back(std::move(text));
      }
    }
    if (NamesZone(object.spec.schedule)) {
      warnings.push_back(
          "CRON_TZ or TZ used in spec.schedule is not officially supported, see "
          "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
    }
    return warnings;
  }

  Cells RowOf(const CronJob& object, const Time& now) const override {
    const CronJobSpec& spec = object.spec;
    const core::v1::PodSpec& pod = spec.jobTemplate.spec.template_.spec;
    return {object.metadata.name,
            spec.schedule,
            spec.timeZone.value_or("<none>"),
            !spec.suspend   ? "<unset>"
            : *spec.suspend ? "True"
                            : "False",
            static_cast<int64_t>(object.status.active.size()),
            object.status.lastScheduleTime ? Age(*object.status.lastScheduleTime, now) : "<none>",
            Age(object.metadata.creationTimestamp, now),
            ContainerNames(pod),
            ContainerImages(pod),
            SelectorText(spec.jobTemplate.spec.selector)};
  }
};

}  // namespace

StrategyPtr NewCronJobStrategy() { return std::make_unique<CronJobStrategy>(); }

}  // namespace cox::apiserver
