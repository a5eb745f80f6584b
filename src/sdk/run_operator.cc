// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/heap.h"
#include "base/run_until_signal.h"
#include "coxswain/manager.h"
#include "net/tls.h"

namespace cox {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
// Most operators are idle most of the time, and their startup takes some seconds.
constexpr timespec kFirstTrim{.tv_sec = 3, .tv_nsec = 0};

// Names as in kubebuilder's operators and kube-controller-manager.
constexpr FlagInfo kFlags[] = {
    {"Cluster", "kubeconfig", "file", "",
     "Kubeconfig file (default: $KUBECONFIG, the service account of the Pod, or ~/.kube/config)"},
    {"Cluster", "context", "name", "", "Context of the kubeconfig (default: its current context)"},
    {"Cluster", "namespaces", "list", "",
     "Namespaces to watch, separated by commas (default: all)"},
    {"Leader election", "leader-elect", "", "false",
     "Elect a leader, so that one of several replicas works; the others wait with filled caches"},
    {"Leader election", "leader-elect-resource-namespace", "namespace", "",
     "Namespace of the Lease (default: the namespace of the Pod or of the context)"},
    {"Leader election", "leader-elect-resource-name", "name", "",
     "Name of the Lease (default: the name of the program)"},
    {"Serving", "metrics-bind-address", "address", "",
     "Address of /metrics: host:port or :port; 0 to disable"},
    {"Serving", "health-probe-bind-address", "address", "",
     "Address of /healthz and /readyz: host:port or :port; 0 to disable"},
    {"Logging", "logging-format", "format", "text",
     "Log format: text or json, one line per message, to stderr"},
    {"Logging", "v", "level", "0",
     "Log verbosity: 0 for what operators of a cluster need, 2 for single steps, 4 and more for "
     "developers"},
};

std::string Help(const OperatorOptions& options, std::span<const FlagInfo> known) {
  std::string intro = options.name + ": " + options.description + R"(

Usage:
  )" + options.name +
                      R"( [flags]

It runs until SIGTERM or SIGINT, finishes running reconciles and releases the Lease; a second signal ends
it immediately. Exit codes: 0 stopped by a signal, 1 failed or no longer the leader (start it again), 2 wrong
flags.

Examples:
  )" + options.name +
                      R"(                                        # in a Pod, or with ~/.kube/config
  )" + options.name +
                      R"( --kubeconfig admin.conf -v 2           # with more log messages
  )" + options.name +
                      R"( --leader-elect                         # one of several replicas

Health checks: /healthz and /readyz, each with ?verbose, at port )";
  intro += options.manager.health_address + "; metrics: /metrics at " +
           options.manager.metrics_address + ".\n";
  return FlagsHelp(intro, known);
}

// Flags override the options of the program.
Status ApplyFlags(const Flags& flags, const Config& config, OperatorOptions& options) {
  ManagerOptions& manager = options.manager;
  if (flags.Has("metrics-bind-address")) {
    manager.metrics_address = flags.Get("metrics-bind-address");
  }
  if (flags.Has("health-probe-bind-address")) {
    manager.health_address = flags.Get("health-probe-bind-address");
  }
  if (flags.Has("namespaces")) manager.cache.defaults.namespaces = flags.GetList("namespaces");
  if (manager.name == ManagerOptions().name) manager.name = options.name;
  if (flags.Has("leader-elect")) {
    if (!flags.GetBool("leader-elect")) manager.leader_election.reset();
    if (flags.GetBool("leader-elect") && !manager.leader_election) {
      manager.leader_election.emplace();
    }
  }
  if (manager.leader_election) {
    ObjectKey& lease = manager.leader_election->lease;
    if (flags.Has("leader-elect-resource-namespace")) {
      lease.ns = flags.Get("leader-elect-resource-namespace");
    }
    if (flags.Has("leader-elect-resource-name")) {
      lease.name = flags.Get("leader-elect-resource-name");
    }
    if (lease.ns.empty()) lease.ns = config.ns;
    if (lease.name.empty()) lease.name = options.name;
  }
  const std::string format = flags.Get("logging-format");
  if (format != "text" && format != "json") {
    return Status::BadRequest("--logging-format=" + format + ": want text or json");
  }
  return flags.GetInt("v", 0, 10).status();
}

Status Operate(Context& ctx, const Config& config, const OperatorOptions& options,
               const Flags& flags, const OperatorSetup& setup) {
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<Manager> manager,
                       Manager::Create(ctx, config, options.manager));
  Status status = setup(*manager, flags);
  if (status.ok()) status = manager->Run(ctx);
  if (!status.ok()) {
    COX_ERROR(ctx.log(), status, "The manager failed");
    // Exit immediately: destructors would wait for runnables that hang, and a former leader has
    // nothing to clean up.
    _exit(kFailed);
  }
  return {};
}

int Fail(const Status& status, int code) {
  std::fputs(("Error: " + status.message() + "\n").c_str(), stderr);
  return code;
}

}  // namespace

int RunOperator(int argc, char** argv, OperatorOptions options, const OperatorSetup& setup) {
  // Before OpenSSL allocates memory.
  net::PrepareTls();
  const std::span<char* const> arguments(argv, static_cast<size_t>(argc));
  std::vector<FlagInfo> known = options.flags;
  known.insert(known.end(), std::begin(kFlags), std::end(kFlags));
  const Result<Flags> flags =
      Flags::Parse(known, arguments.empty() ? arguments : arguments.subspan(1));
  if (!flags.ok()) return Fail(flags.status(), kUsage);
  if (flags->help()) {
    std::fputs(Help(options, known).c_str(), stdout);
    return 0;
  }
  BoundHeap();
  const sigset_t signals = BlockSignals({SIGTERM, SIGINT});

  const Result<Config> config =
      LoadConfig({.kubeconfig = flags->Get("kubeconfig"), .context = flags->Get("context")});
  // Report invalid flags before a missing cluster configuration.
  if (const Status status = ApplyFlags(*flags, config.ok() ? *config : Config(), options);
      !status.ok()) {
    return Fail(status, kUsage);
  }
  if (!config.ok()) return Fail(config.status(), kFailed);
  RealClock clock;
  FdLogSink sink(STDERR_FILENO);
  Logging logging(
      clock, flags->Get("logging-format") == "json" ? LogFormat::kJson : LogFormat::kText, sink);
  logging.SetDefaultLevel(static_cast<int>(*flags->GetInt("v", 0, 10)));
  Context ctx(clock, logging.For(options.name));
  const UntilSignalOptions until = {
      .signals = signals,
      .name = "manager",
      .trim_after = kFirstTrim,
      .on_signal =
          [&ctx](int signal, bool again) {
            if (again) {
              COX_WARNING(ctx.log(), "Exiting immediately", {"signal", signal});
            } else {
              COX_INFO(ctx.log(), "Stopping", {"signal", signal});
            }
          },
  };
  const Status status =
      RunUntilSignal(ctx, until, [&] { return Operate(ctx, *config, options, *flags, setup); });
  return status.ok() ? 0 : Fail(status, kFailed);
}

}  // namespace cox
