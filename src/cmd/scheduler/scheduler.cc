// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <utility>

#include "cmd/commands.h"
#include "cmd/component/component.h"
#include "cmd/component/configured_arguments.h"
#include "object/scalar/time.h"
#include "scheduler/config/configuration.h"
#include "scheduler/scheduler.h"
#include "scheduler/trim.h"

namespace cox::cmd {
namespace {

constexpr uint16_t kPort = 10259;

constexpr FlagInfo kFlags[] = {
    {"Scheduler", "config", "file", "",
     "KubeSchedulerConfiguration file: profiles, plugins and their weights, "
     "percentageOfNodesToScore, leader election; flags take precedence"},
    {"Scheduler", "write-config-to", "file", "", "File to write the configuration to", true},
    {"Scheduler", "master", "url", "", "URL of the API server; use --kubeconfig", true},
    {"Scheduler", "pod-max-in-unschedulable-pods-duration", "duration", "5m0s",
     "Time after which an unschedulable Pod is tried again even if nothing has changed"},
};

constexpr std::string_view kIntro =
    R"(coxswain scheduler: assigns Pods to nodes (kube-scheduler).

Usage:
  coxswain scheduler [flags]

Examples:
  coxswain scheduler --kubeconfig scheduler.conf
  coxswain scheduler --kubeconfig scheduler.conf --config profiles.yaml --leader-elect=false
)";

}  // namespace

int RunScheduler(std::span<char* const> arguments) {
  scheduler::Configuration configuration;
  const auto configured = ConfiguredArguments::From(
      arguments, [&](std::string_view text) -> Result<ConfiguredArguments::NamedFlags> {
        COX_ASSIGN_OR_RETURN(configuration, scheduler::ParseConfiguration(text));
        return configuration.flags;
      });
  if (!configured.ok()) {
    std::fputs(("Error: " + configured.status().message() + "\n").c_str(), stderr);
    return 2;
  }
  ComponentOptions options;
  options.name = "kube-scheduler";
  options.intro = kIntro;
  options.flags = kFlags;
  options.secure_port = kPort;
  options.leader_elect = true;
  options.cache = scheduler::TrimmedCache();
  return RunComponent(configured->all(), options, [&](const Component& component) -> Status {
    constexpr std::string_view kMaxWait = "pod-max-in-unschedulable-pods-duration";
    const Result<Duration> wait = Duration::Parse(component.flags.Get(kMaxWait));
    if (!wait.ok() || wait->nanos <= 0) {
      return Status::BadRequest("--" + std::string(kMaxWait) + " must be a duration such as 5m");
    }
    configuration.scheduler.queue.max_unschedulable =
        std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::nanoseconds(wait->nanos));
    return scheduler::AddScheduler(component.manager, configuration.scheduler);
  });
}

}  // namespace cox::cmd
