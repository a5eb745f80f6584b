// SPDX-License-Identifier: Apache-2.0
#include "kubelet/configs/container_config.h"

#include <algorithm>
#include <array>

#include "kubelet/configs/log_paths.h"
#include "kubelet/pod/containers.h"
#include "kubelet/resources/cgroup.h"
#include "kubelet/resources/requests.h"
#include "runtime/labels.h"

namespace cox::kubelet {

using core::v1::Container;

namespace {

// In the order of the CRI's enum values, which begin with 1.
constexpr std::array kSignals = {
    "SIGABRT", "SIGALRM", "SIGBUS",    "SIGCHLD",  "SIGCLD",  "SIGCONT",   "SIGFPE",
    "SIGHUP",  "SIGILL",  "SIGINT",    "SIGIO",    "SIGIOT",  "SIGKILL",   "SIGPIPE",
    "SIGPOLL", "SIGPROF", "SIGPWR",    "SIGQUIT",  "SIGSEGV", "SIGSTKFLT", "SIGSTOP",
    "SIGSYS",  "SIGTERM", "SIGTRAP",   "SIGTSTP",  "SIGTTIN", "SIGTTOU",   "SIGURG",
    "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ",   "SIGRTMIN"};

cri::v1::Signal ToSignal(const std::string& name) {
  const auto* found = std::find(kSignals.begin(), kSignals.end(), name);
  if (found == kSignals.end()) return cri::v1::kSignalRuntimeDefault;
  return static_cast<cri::v1::Signal>(found - kSignals.begin() + 1);
}

cri::v1::MountPropagation ToPropagation(const std::string& propagation) {
  if (propagation == "HostToContainer") return cri::v1::kMountPropagationHostToContainer;
  if (propagation == "Bidirectional") return cri::v1::kMountPropagationBidirectional;
  return cri::v1::kMountPropagationPrivate;
}

void SetMounts(const ContainerInput& input, cri::v1::ContainerConfig& config) {
  bool has_hosts = false;
  for (const ContainerMount& mount : input.mounts) {
    has_hosts |= mount.container_path == "/etc/hosts";
    config.mounts.push_back({.container_path = mount.container_path,
                             .host_path = mount.host_path,
                             .readonly = mount.read_only,
                             .propagation = ToPropagation(mount.propagation)});
  }
  if (!has_hosts && !input.etc_hosts.empty()) {
    config.mounts.push_back({.container_path = "/etc/hosts", .host_path = input.etc_hosts});
  }
  if (!input.termination_log.empty()) {
    config.mounts.push_back({.container_path = input.container.terminationMessagePath,
                             .host_path = input.termination_log});
  }
}

cri::v1::LinuxContainerResources ResourcesOf(const ContainerInput& input, const Options& options) {
  const CgroupNumbers numbers = ContainerNumbers(input.container, options.cpu_cfs_quota);
  cri::v1::LinuxContainerResources out;
  out.cpu_shares = static_cast<int64_t>(numbers.cpu_shares.value_or(0));
  out.cpu_quota = numbers.cpu_quota.value_or(0);
  out.cpu_period = static_cast<int64_t>(numbers.cpu_period.value_or(0));
  out.memory_limit_in_bytes = numbers.memory_limit.value_or(0);
  out.oom_score_adj = OomScoreAdjust(input.pod, input.container, input.memory_capacity);
  return out;
}

void SetAnnotations(const ContainerInput& input, cri::v1::ContainerConfig& config) {
  config.annotations[runtime::annotation::kTerminationMessagePath] =
      input.container.terminationMessagePath;
  config.annotations[runtime::annotation::kTerminationMessagePolicy] =
      input.container.terminationMessagePolicy;
  if (input.pod.spec.terminationGracePeriodSeconds) {
    config.annotations[runtime::annotation::kGracePeriod] =
        std::to_string(*input.pod.spec.terminationGracePeriodSeconds);
  }
}

}  // namespace

Result<cri::v1::ContainerConfig> MakeContainerConfig(const ContainerInput& input,
                                                     const Options& options) {
  const Container& container = input.container;
  const auto& meta = input.pod.metadata;
  cri::v1::ContainerConfig config;
  runtime::MarkContainer({meta.uid, meta.namespace_, meta.name}, container.name, input.attempt,
                         SpecHash(container), &config);
  SetAnnotations(input, config);
  config.image =
      cri::v1::ImageSpec{.image = input.image_ref, .user_specified_image = container.image};
  config.command = ExpandWords(container.command, input.environment);
  config.args = ExpandWords(container.args, input.environment);
  config.working_dir = container.workingDir;
  for (const auto& [name, value] : input.environment.variables) {
    config.envs.push_back({.key = name, .value = value});
  }
  SetMounts(input, config);
  config.log_path = ContainerLogName(container.name, input.attempt);
  config.stdin = container.stdin;
  config.stdin_once = container.stdinOnce;
  config.tty = container.tty;
  if (container.lifecycle && container.lifecycle->stopSignal) {
    config.stop_signal = ToSignal(*container.lifecycle->stopSignal);
  }
  cri::v1::LinuxContainerConfig linux_config;
  COX_ASSIGN_OR_RETURN(linux_config.security_context,
                       ContainerSecurity(input.pod, container, input.image_user, input.target_id,
                                         {.root = options.root_dir + "/seccomp/",
                                          .runtime_default = options.seccomp_default}));
  linux_config.resources = ResourcesOf(input, options);
  config.linux = std::move(linux_config);
  return config;
}

}  // namespace cox::kubelet
