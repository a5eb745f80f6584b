// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/batch/job_validation.h"
#include "apiserver/registry/validation/internal_value.h"
#include "base/strings.h"
#include "object/validation/object_meta.h"

// Statuses are written by controllers, including external ones (spec.managedBy). The rules protect
// what clients rely on: a Job finishes once, with one result, and its counters are consistent. A
// rule applies only if the fields that it is about have changed, so that a status which violated it
// before the rule existed can still be updated.
namespace cox::apiserver {
namespace {

using batch::v1::Job;
using batch::v1::JobStatus;

bool IsTrue(const JobStatus& status, std::string_view type) {
  return std::any_of(status.conditions.begin(), status.conditions.end(),
                     [&](const batch::v1::JobCondition& condition) {
                       return condition.type == type && condition.status == "True";
                     });
}

// The relevant conditions of a status.
struct Conditions {
  explicit Conditions(const JobStatus& status)
      : complete(IsTrue(status, batch::v1::kJobComplete)),
        failed(IsTrue(status, batch::v1::kJobFailed)),
        failure_target(IsTrue(status, batch::v1::kJobFailureTarget)),
        success_criteria_met(IsTrue(status, batch::v1::kJobSuccessCriteriaMet)) {}

  bool finished() const { return complete || failed; }

  bool complete, failed, failure_target, success_criteria_met;
};

FieldValue TimeValue(const std::optional<Time>& time) {
  return time ? FieldValue(time->ToString()) : FieldValue(nullptr);
}

class StatusCheck {
 public:
  StatusCheck(const Job& job, const Job& old)
      : job_(job), now_(job.status), before_(old.status), is_(job.status), was_(old.status) {}

  FieldErrorList Run() {
    Counters();
    UncountedPods();
    ConditionsAndTimes();
    FinishedJob();
    Indexes();
    Changes();
    SuccessCriteria();
    return std::move(errors_);
  }

 private:
  void Invalid(std::string_view field, FieldValue value, std::string message) {
    errors_.push_back(
        FieldError::Invalid(path_.Child(field), std::move(value), std::move(message)));
  }
  void BadConditions(std::string message) {
    Invalid("conditions", FieldValue::Omit(), std::move(message));
  }

  void Counters() {
    Append(errors_, ValidateCounters({{"active", now_.active},
                                      {"succeeded", now_.succeeded},
                                      {"failed", now_.failed},
                                      {"ready", now_.ready.value_or(0)},
                                      {"terminating", now_.terminating.value_or(0)}},
                                     path_));
  }

  void UncountedPods() {
    if (!now_.uncountedTerminatedPods) return;
    FieldPath path = path_.Child("uncountedTerminatedPods");
    std::set<std::string_view> seen;
    auto check = [&](std::string_view name, const List<std::string>& uids) {
      for (size_t i = 0; i < uids.size(); ++i) {
        FieldPath at = path.Child(name).Index(i);
        if (uids[i].empty()) {
          errors_.push_back(FieldError::Invalid(at, uids[i], "must not be empty"));
        } else if (!seen.insert(uids[i]).second) {
          errors_.push_back(FieldError::Duplicate(at, uids[i]));
        }
      }
    };
    check("succeeded", now_.uncountedTerminatedPods->succeeded);
    check("failed", now_.uncountedTerminatedPods->failed);
  }

  void ConditionsAndTimes() {
    bool complete_changed = is_.complete != was_.complete;
    bool failed_changed = is_.failed != was_.failed;
    bool target_changed = is_.failure_target != was_.failure_target;
    bool criteria_changed = is_.success_criteria_met != was_.success_criteria_met;
    bool completion_time_changed = now_.completionTime != before_.completionTime;
    if ((complete_changed || failed_changed) && is_.complete && is_.failed) {
      BadConditions("cannot set Complete=True and Failed=true conditions");
    }
    if ((complete_changed || target_changed) && is_.complete && is_.failure_target) {
      BadConditions("cannot set Complete=True and FailureTarget=true conditions");
    }
    if (complete_changed || completion_time_changed) {
      if (now_.completionTime && !is_.complete) {
        Invalid("completionTime", TimeValue(now_.completionTime),
                "cannot set completionTime when there is no Complete=True condition");
      }
      if (!now_.completionTime && is_.complete) {
        errors_.push_back(FieldError::Required(path_.Child("completionTime"),
                                               "completionTime is required for Complete jobs"));
      }
    }
    if ((StartTimeChanged() || completion_time_changed) && now_.startTime && now_.completionTime &&
        *now_.completionTime < *now_.startTime) {
      Invalid("completionTime", TimeValue(now_.completionTime),
              "completionTime cannot be set before startTime");
    }
    if ((failed_changed || target_changed) && is_.failed && !is_.failure_target) {
      BadConditions("cannot set Failed=True condition without the FailureTarget=true condition");
    }
    if ((complete_changed || criteria_changed) && is_.complete && !is_.success_criteria_met) {
      BadConditions(
          "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    }
  }

  // A finished Job has no active or terminating pods.
  void FinishedJob() {
    if (!is_.finished()) return;
    bool changed = is_.finished() != was_.finished();
    if ((changed || now_.active != before_.active) && now_.active > 0) {
      Invalid("active", now_.active, "active>0 is invalid for finished job");
    }
    if ((changed || now_.terminating != before_.terminating) && now_.terminating.value_or(0) > 0) {
      Invalid("terminating", *now_.terminating, "terminating>0 is invalid for finished job");
    }
    bool never_ran = job_.spec.suspend.value_or(false) && job_.spec.completions == 0;
    if ((changed || StartTimeChanged()) && !now_.startTime && !never_ran) {
      errors_.push_back(
          FieldError::Required(path_.Child("startTime"), "startTime is required for finished job"));
    }
    bool pods_changed = now_.uncountedTerminatedPods != before_.uncountedTerminatedPods;
    if ((changed || pods_changed) && now_.uncountedTerminatedPods &&
        !(now_.uncountedTerminatedPods->succeeded.empty() &&
          now_.uncountedTerminatedPods->failed.empty())) {
      Invalid("uncountedTerminatedPods", InternalValue(*now_.uncountedTerminatedPods),
              "uncountedTerminatedPods needs to be empty for finished job");
    }
  }

  void Indexes() {
    bool completed_changed = now_.completedIndexes != before_.completedIndexes;
    bool failed_changed = now_.failedIndexes != before_.failedIndexes;
    const std::optional<int32_t>& completions = job_.spec.completions;
    if (completed_changed && completions) {
      CheckIndexes("completedIndexes", now_.completedIndexes, *completions);
    }
    if (failed_changed && completions && job_.spec.backoffLimitPerIndex && now_.failedIndexes) {
      CheckIndexes("failedIndexes", *now_.failedIndexes, *completions);
    }
    if (completed_changed && !now_.completedIndexes.empty() && !IsIndexed(job_.spec)) {
      Invalid("completedIndexes", now_.completedIndexes,
              "cannot set non-empty completedIndexes when non-indexed completion mode");
    }
    // This also rejects failedIndexes of Jobs without indexes.
    if (failed_changed && now_.failedIndexes && !job_.spec.backoffLimitPerIndex) {
      Invalid("failedIndexes", *now_.failedIndexes,
              "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    }
    if ((completed_changed || failed_changed) && completions && now_.failedIndexes) {
      CheckOverlap(*completions);
    }
  }

  void CheckIndexes(std::string_view field, const std::string& text, int32_t completions) {
    Result<int64_t> count = CountIndexes(text, completions);
    if (count.ok()) return;
    Invalid(field, text, "error parsing " + std::string(field) + ": " + count.status().message());
  }

  void CheckOverlap(int32_t completions) {
    auto completed = IndexRanges(now_.completedIndexes, completions);
    auto failed = IndexRanges(*now_.failedIndexes, completions);
    // Both lists increase: the range that ends first cannot overlap a later one of the other list.
    for (size_t i = 0, j = 0; i < completed.size() && j < failed.size();) {
      int64_t first = std::max(completed[i].first, failed[j].first);
      if (first <= std::min(completed[i].second, failed[j].second)) {
        Invalid("failedIndexes", *now_.failedIndexes,
                "failedIndexes and completedIndexes overlap at index: " + std::to_string(first));
        return;
      }
      completed[i].second < failed[j].second ? ++i : ++j;
    }
  }

  // The ranges of a list of indexes; empty if it is malformed, which is reported elsewhere.
  static std::vector<std::pair<int64_t, int64_t>> IndexRanges(const std::string& text,
                                                              int32_t completions) {
    std::vector<std::pair<int64_t, int64_t>> ranges;
    if (text.empty() || !CountIndexes(text, completions).ok()) return ranges;
    for (std::string_view interval : Split(text, ',')) {
      CutResult ends = Cut(interval, '-');
      int64_t first = std::stoll(std::string(ends.before));
      ranges.emplace_back(first, ends.found ? std::stoll(std::string(ends.after)) : first);
    }
    return ranges;
  }

  bool StartTimeChanged() const { return now_.startTime != before_.startTime; }

  void Changes() {
    auto keep = [&](std::string_view type, bool was, bool is) {
      if (was && !is) {
        BadConditions("cannot disable the terminal " + std::string(type) + "=True condition");
      }
    };
    keep("Failed", was_.failed, is_.failed);
    keep("Complete", was_.complete, is_.complete);
    keep("FailureTarget", was_.failure_target, is_.failure_target);
    if (now_.failed < before_.failed) {
      Invalid("failed", now_.failed, "cannot decrease the failed counter");
    }
    // Elastic Jobs can be scaled down.
    bool elastic = IsIndexed(job_.spec) && job_.spec.completions == job_.spec.parallelism;
    if (!elastic && now_.succeeded < before_.succeeded) {
      Invalid("succeeded", now_.succeeded, "cannot decrease the succeeded counter");
    }
    bool active_changed = now_.ready != before_.ready || now_.active != before_.active;
    if (active_changed && now_.ready.value_or(0) > now_.active) {
      Invalid("ready", *now_.ready, "cannot set more ready pods than active");
    }
    if (StartTimeChanged() && before_.startTime && !job_.spec.suspend.value_or(false)) {
      if (now_.startTime) {
        Invalid("startTime", TimeValue(now_.startTime),
                "startTime cannot be modified for unsuspended job");
      } else {
        errors_.push_back(FieldError::Required(path_.Child("startTime"),
                                               "startTime cannot be removed for unsuspended job"));
      }
    }
    if (before_.completionTime && now_.completionTime != before_.completionTime) {
      Invalid("completionTime", TimeValue(now_.completionTime), "completionTime cannot be mutated");
    }
  }

  void SuccessCriteria() {
    if (was_.success_criteria_met && !is_.success_criteria_met) {
      BadConditions("cannot disable the SuccessCriteriaMet=True condition");
    }
    if (is_.success_criteria_met && is_.failed) {
      BadConditions("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if (is_.success_criteria_met && is_.failure_target) {
      BadConditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    }
  }

  const Job& job_;
  const JobStatus& now_;
  const JobStatus& before_;
  const Conditions is_;
  const Conditions was_;
  const FieldPath path_ = FieldPath("status");
  FieldErrorList errors_;
};

}  // namespace

FieldErrorList ValidateJobStatusUpdate(const Job& job, const Job& old) {
  return StatusCheck(job, old).Run();
}

}  // namespace cox::apiserver
