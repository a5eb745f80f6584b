// SPDX-License-Identifier: Apache-2.0
#include "kubelet/options/options.h"

#include "base/strings.h"

namespace cox::kubelet {

namespace {

Status Wrong(std::string_view option, std::string_view value, std::string_view should) {
  return Status::Invalid(std::string(option) + ": " + Quote(value) + " " + std::string(should));
}

}  // namespace

Result<VerificationPolicy> ParseVerificationPolicy(std::string_view name) {
  for (const VerificationPolicy policy :
       {VerificationPolicy::kNeverVerify, VerificationPolicy::kNeverVerifyPreloadedImages,
        VerificationPolicy::kNeverVerifyAllowlistedImages, VerificationPolicy::kAlwaysVerify}) {
    if (name == NameOf(policy)) return policy;
  }
  return Status::BadRequest(
      "must be NeverVerify, NeverVerifyPreloadedImages, NeverVerifyAllowlistedImages or "
      "AlwaysVerify, not " +
      Quote(name));
}

std::string_view NameOf(VerificationPolicy policy) {
  switch (policy) {
    case VerificationPolicy::kNeverVerify:
      return "NeverVerify";
    case VerificationPolicy::kNeverVerifyPreloadedImages:
      return "NeverVerifyPreloadedImages";
    case VerificationPolicy::kNeverVerifyAllowlistedImages:
      return "NeverVerifyAllowlistedImages";
    case VerificationPolicy::kAlwaysVerify:
      return "AlwaysVerify";
  }
  return "";
}

Status Validate(const Options& options) {
  if (options.node_name.empty()) return Wrong("hostname-override", "", "must name the node");
  for (const auto& [name, path] :
       {std::pair{"root-dir", &options.root_dir}, std::pair{"podLogsDir", &options.pod_logs_dir},
        std::pair{"cgroupRoot", &options.cgroup_root}}) {
    if (!path->starts_with('/')) return Wrong(name, *path, "must be an absolute path");
  }
  if (options.cgroup_driver != "systemd" && options.cgroup_driver != "cgroupfs") {
    return Wrong("cgroupDriver", options.cgroup_driver, "must be systemd or cgroupfs");
  }
  if (options.max_pods < 0) {
    return Wrong("maxPods", std::to_string(options.max_pods), "must not be negative");
  }
  // With systemd the runtime creates the cgroups of Pods, and sets no limit.
  if (options.pod_pids_limit > 0 &&
      (options.cgroup_driver != "cgroupfs" || !options.cgroups_per_qos)) {
    return Wrong("podPidsLimit", std::to_string(options.pod_pids_limit),
                 "requires cgroupDriver cgroupfs and cgroupsPerQOS");
  }
  if (options.max_parallel_image_pulls < 1) {
    return Wrong("maxParallelImagePulls", std::to_string(options.max_parallel_image_pulls),
                 "must be positive");
  }
  if (options.sync_threads < 1) {
    return Wrong("sync-threads", std::to_string(options.sync_threads), "must be positive");
  }
  // The bounds of KubeletConfiguration's crashLoopBackOff.maxContainerRestartPeriod.
  const auto period = options.max_container_restart_period.count();
  if (period < 1 || period > 300) {
    return Wrong("crashLoopBackOff.maxContainerRestartPeriod", std::to_string(period) + "s",
                 "must be between 1s and 300s");
  }
  return {};
}

}  // namespace cox::kubelet
