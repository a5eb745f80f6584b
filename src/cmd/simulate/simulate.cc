// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <utility>

#include "cmd/commands.h"
#include "cmd/component/component.h"
#include "object/scalar/time.h"
#include "simulate/simulate.h"

namespace cox::cmd {
namespace {

constexpr FlagInfo kFlags[] = {
    {"Nodes", "nodes", "int", "1", "how many"},
    {"Nodes", "prefix", "string", "sim-", "of their names; numbers from 0 follow"},
    {"Nodes", "pods-per-node", "int", "110", "how many Pods each says it can run, at most 250"},
    {"Nodes", "cpu", "quantity", "32", "of each node"},
    {"Nodes", "memory", "quantity", "256Gi", "of each node"},
    {"Nodes", "zones", "int", "3", "how many values topology.kubernetes.io/zone has"},
    {"Nodes", "node-labels", "key=value,...", "", "further labels of each node"},
    {"Nodes", "lease-duration", "duration", "40s",
     "after which a node that is silent is no longer alive; renewed four times as often"},
    {"Nodes", "node-status-update-frequency", "duration", "5m0s",
     "how often a node tells that it is as it was"},
    {"Nodes", "fail", "names", "",
     "nodes that register and are never heard of again, separated by commas"},
    {"Pods", "startup-delay", "duration", "0s", "from binding to Running"},
    {"Pods", "workers", "int", "16", "writes about Pods that are under way at once"},
};

constexpr std::string_view kIntro =
    R"(coxswain simulate: nodes without containers, thousands in one process, for tests and for scale.

Usage:
  coxswain simulate --nodes N [flags]

Each node registers, is Ready and renews its Lease. Pods bound to it get an address and are Running
and Ready after the startup delay; those being deleted are deleted. Annotations say what else happens:

  on a Pod    coxswain.dev/startup-delay: 2s      from binding to Running
              coxswain.dev/run-for: 5s            then its containers exit; its restartPolicy counts
              coxswain.dev/exit-code: "1"         how they do
              coxswain.dev/fail: NotReady         runs, is never ready
              coxswain.dev/fail: ImagePullBackOff any other word: waits for ever, for that reason
  on a Node   coxswain.dev/fail: "true"           nothing is heard of it, as without power

Examples:
  coxswain simulate --nodes 1000 --kubeconfig admin.conf
  kubectl annotate node sim-7 coxswain.dev/fail=true      # and coxswain.dev/fail- heals it
)";

Result<Clock::Duration> DurationOf(const Flags& flags, std::string_view name) {
  const Result<Duration> parsed = Duration::Parse(flags.Get(name));
  if (!parsed.ok() || parsed->nanos < 0) {
    return Status::BadRequest("--" + std::string(name) + " must be a duration such as 40s, not " +
                              flags.Get(name));
  }
  return Clock::Duration(parsed->nanos);
}

Result<std::chrono::seconds> SecondsUp(const Flags& flags, std::string_view name) {
  COX_ASSIGN_OR_RETURN(const Clock::Duration duration, DurationOf(flags, name));
  return std::chrono::ceil<std::chrono::seconds>(duration);
}

Result<simulate::Options> OptionsFrom(const Flags& flags) {
  simulate::Options options;
  COX_ASSIGN_OR_RETURN(const int64_t nodes, flags.GetInt("nodes", 1, simulate::kMaxNodes));
  COX_ASSIGN_OR_RETURN(const int64_t pods,
                       flags.GetInt("pods-per-node", 1, simulate::kMaxPodsPerNode));
  COX_ASSIGN_OR_RETURN(const int64_t zones, flags.GetInt("zones", 1, 1000));
  COX_ASSIGN_OR_RETURN(const int64_t workers, flags.GetInt("workers", 1, 256));
  options.nodes = static_cast<int>(nodes);
  options.pods_per_node = static_cast<int>(pods);
  options.zones = static_cast<int>(zones);
  options.workers = static_cast<int>(workers);
  options.prefix = flags.Get("prefix");
  options.cpu = flags.Get("cpu");
  options.memory = flags.Get("memory");
  for (const std::string& label : flags.GetList("node-labels")) {
    const size_t equals = label.find('=');
    if (equals == std::string::npos) {
      return Status::BadRequest("--node-labels: " + label + " is not key=value");
    }
    options.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  for (std::string& name : flags.GetList("fail")) options.fail.insert(std::move(name));
  COX_ASSIGN_OR_RETURN(options.startup_delay, DurationOf(flags, "startup-delay"));
  COX_ASSIGN_OR_RETURN(options.lease_duration, SecondsUp(flags, "lease-duration"));
  COX_ASSIGN_OR_RETURN(options.status_period, SecondsUp(flags, "node-status-update-frequency"));
  return options;
}

}  // namespace

int RunSimulate(std::span<char* const> arguments) {
  ComponentOptions options;
  options.name = "coxswain-simulate";
  options.intro = kIntro;
  options.flags = kFlags;
  options.cache = simulate::CacheFor();
  return RunComponent(arguments, options, [](const Component& component) -> Status {
    COX_ASSIGN_OR_RETURN(const simulate::Options nodes, OptionsFrom(component.flags));
    return simulate::AddNodes(component.manager, nodes);
  });
}

}  // namespace cox::cmd
