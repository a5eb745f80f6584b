// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::test {

// A stable or beta metric of upstream that no component exposes, and the reason.
struct MetricException {
  std::string_view name;
  std::string_view reason;
};

inline constexpr std::string_view kNoCel = "CEL is not implemented";
inline constexpr std::string_view kNoPolicies =
    "ValidatingAdmissionPolicies are stored and not enforced";
inline constexpr std::string_view kNoDeclarative = "there is one validation, written by hand";
inline constexpr std::string_view kNoAutoscaler =
    "the HorizontalPodAutoscaler controller is not implemented";
inline constexpr std::string_view kNoImageVolumes = "image volumes are not implemented";
inline constexpr std::string_view kNoPreemption = "preemption is not implemented";

inline constexpr MetricException kMetricExceptions[] = {
    {"apiserver_cel_compilation_duration_seconds", kNoCel},
    {"apiserver_cel_evaluation_duration_seconds", kNoCel},
    {"apiserver_validating_admission_policy_check_duration_seconds", kNoPolicies},
    {"apiserver_validating_admission_policy_check_total", kNoPolicies},
    {"apiserver_validation_declarative_validation_mismatch_total", kNoDeclarative},
    {"apiserver_validation_declarative_validation_panic_total", kNoDeclarative},
    {"cronjob_controller_job_creation_skew_duration_seconds",
     "the CronJob controller is not implemented"},
    {"disabled_metrics_total", "there is no --disabled-metrics"},
    {"hidden_metrics_total", "no metric is hidden"},
    {"horizontal_pod_autoscaler_controller_metric_computation_duration_seconds", kNoAutoscaler},
    {"horizontal_pod_autoscaler_controller_metric_computation_total", kNoAutoscaler},
    {"horizontal_pod_autoscaler_controller_reconciliation_duration_seconds", kNoAutoscaler},
    {"horizontal_pod_autoscaler_controller_reconciliations_total", kNoAutoscaler},
    {"kubelet_image_volume_mounted_errors_total", kNoImageVolumes},
    {"kubelet_image_volume_mounted_succeed_total", kNoImageVolumes},
    {"kubelet_image_volume_requested_total", kNoImageVolumes},
    {"kubernetes_feature_enabled", "there are no feature gates; --feature-gates is ignored"},
    {"scheduler_preemption_attempts_total", kNoPreemption},
    {"scheduler_preemption_victims", kNoPreemption},
};

// A metric that has no series in the test, because its event does not happen there, and the test
// that causes the event.
struct TestedElsewhere {
  std::string_view name;
  std::string_view test;
};

inline constexpr std::string_view kReloadTest = "ConfigReloadMetrics.CountsReloadsByResult";

inline constexpr TestedElsewhere kTestedElsewhere[] = {
    {"apiserver_admission_webhook_admission_duration_seconds", "AdmissionWebhooksTest"},
    {"apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds",
     kReloadTest},
    {"apiserver_authentication_config_controller_automatic_reloads_total", kReloadTest},
    {"apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds",
     kReloadTest},
    {"apiserver_authorization_config_controller_automatic_reloads_total", kReloadTest},
    {"apiserver_storage_size_bytes", "DatabaseSize.IsExportedIfEtcdResponds"},
    {"job_controller_pod_failures_handled_by_failure_policy_total",
     "JobTest.FailuresHandledByThePolicyAreCounted"},
    {"node_collector_evictions_total",
     "NodeLifecycleTest.UnreachableNodeBecomesUnknownAndItsPodsAreEvicted"},
    {"scheduler_permit_wait_duration_seconds", "SchedulerMetrics.PermitWaitsAreRecordedByResult"},
};

}  // namespace cox::test
