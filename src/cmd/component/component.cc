// SPDX-License-Identifier: Apache-2.0
#include "cmd/component/component.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/await_stop.h"
#include "base/oom_score.h"
#include "cmd/component/serving.h"
#include "object/scalar/time.h"

namespace cox::cmd {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr FlagInfo kFlags[] = {
    {"Cluster", "kubeconfig", "file", "",
     "Kubeconfig file (default: $KUBECONFIG, the service account of the Pod, or ~/.kube/config)"},
    {"Leader election", "leader-elect", "", "false",
     "Elect a leader, so that one of several instances works; the others wait with filled caches"},
    {"Leader election", "leader-elect-lease-duration", "duration", "15s",
     "Time without a renewal after which another instance may become the leader"},
    {"Leader election", "leader-elect-renew-deadline", "duration", "10s",
     "Time for which a leader that cannot renew continues to work"},
    {"Leader election", "leader-elect-retry-period", "duration", "2s",
     "Interval between attempts to become the leader or to renew"},
    {"Leader election", "leader-elect-resource-namespace", "string", "kube-system",
     "Namespace of the Lease"},
    {"Leader election", "leader-elect-resource-name", "string", "",
     "Name of the Lease (default: the name of the component)"},
    {"Leader election", "leader-elect-resource-lock", "string", "leases",
     "Kind of the lock: leases"},
    {"Secure serving", "bind-address", "ip", "0.0.0.0", "Address of the HTTPS server"},
    {"Secure serving", "secure-port", "int", "0",
     "Port of the HTTPS server: /healthz, /livez and /readyz without authorization, /metrics with "
     "authorization by the API server; 0 to disable"},
    {"Secure serving", "tls-cert-file", "file", "",
     "Certificate file of the HTTPS server, PEM (default: a self-signed certificate)"},
    {"Secure serving", "tls-private-key-file", "file", "", "Key file for --tls-cert-file"},
    {"Secure serving", "cert-dir", "dir", "", "Directory for certificates", true},
    {"Secure serving", "client-ca-file", "file", "", "CA file for client certificates", true},
    {"Secure serving", "requestheader-client-ca-file", "file", "", "CA file for front proxies",
     true},
    {"Secure serving", "authentication-kubeconfig", "file", "",
     "Kubeconfig for TokenReviews; --kubeconfig is used", true},
    {"Secure serving", "authorization-kubeconfig", "file", "",
     "Kubeconfig for SubjectAccessReviews; --kubeconfig is used", true},
    {"Logging", "logging-format", "format", "text",
     "Log format: text or json, one line per message, to stderr"},
    {"Logging", "v", "level", "0",
     "Log verbosity: 0 for what operators of a cluster need, 2 for single steps, 4 and more for "
     "developers"},
    {"Generic", "feature-gates", "mapStringBool", "", "Feature gates", true},
    {"Generic", "profiling", "", "true", "Profiles at /debug/pprof", true},
    {"Generic", "kube-api-qps", "float", "",
     "Requests per second; priority and fairness of the API server limits them", true},
    {"Generic", "kube-api-burst", "int", "", "Burst of requests; see --kube-api-qps", true},
};

Result<std::chrono::milliseconds> DurationOf(const Flags& flags, std::string_view name) {
  const Result<Duration> duration = Duration::Parse(flags.Get(name));
  if (!duration.ok() || duration->nanos <= 0) {
    return Status::BadRequest("--" + std::string(name) + " must be a duration such as 15s, not " +
                              flags.Get(name));
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::nanoseconds(duration->nanos));
}

// All flags, with storage for the component's defaults.
struct FlagTable {
  std::string port, elects;
  std::vector<FlagInfo> flags;

  explicit FlagTable(const ComponentOptions& options)
      : port(std::to_string(options.secure_port)),
        elects(options.leader_elect ? "true" : "false"),
        flags(options.flags.begin(), options.flags.end()) {
    for (FlagInfo flag : kFlags) {
      if (flag.name == "secure-port") flag.fallback = port;
      if (flag.name == "leader-elect") flag.fallback = elects;
      const bool own = std::any_of(options.flags.begin(), options.flags.end(),
                                   [&](const FlagInfo& other) { return other.name == flag.name; });
      if (!own) flags.push_back(flag);
    }
  }
};

Result<ManagerOptions> ManagerOptionsFrom(const Flags& flags, const ComponentOptions& options) {
  ManagerOptions manager;
  manager.cache = options.cache;
  manager.name = options.name;
  manager.metric_style = MetricStyle::kComponent;
  manager.metrics_address = "0";  // both are served on the secure port
  manager.health_address = "0";
  COX_RETURN_IF_ERROR(flags.GetInt("secure-port", 0, 65535).status());
  if (!flags.GetBool("leader-elect")) return manager;
  if (flags.Get("leader-elect-resource-lock") != "leases") {
    return Status::BadRequest("--leader-elect-resource-lock must be leases");
  }
  LeaderElectionOptions& election = manager.leader_election.emplace();
  election.lease = {flags.Get("leader-elect-resource-namespace"),
                    flags.Get("leader-elect-resource-name")};
  if (election.lease.name.empty()) election.lease.name = options.name;
  COX_ASSIGN_OR_RETURN(election.lease_duration, DurationOf(flags, "leader-elect-lease-duration"));
  COX_ASSIGN_OR_RETURN(election.renew_deadline, DurationOf(flags, "leader-elect-renew-deadline"));
  COX_ASSIGN_OR_RETURN(election.retry_period, DurationOf(flags, "leader-elect-retry-period"));
  return manager;
}

int Fail(const Status& status, int code) {
  std::fputs(("Error: " + status.message() + "\n").c_str(), stderr);
  return code;
}

}  // namespace

Status ApplyOomScoreFlag(const Component& component) {
  COX_ASSIGN_OR_RETURN(const int64_t score, component.flags.GetInt("oom-score-adj", -1000, 1000));
  TrySetOomScoreAdj(component.manager.context().log(), 0, static_cast<int>(score));
  return {};
}

std::span<const FlagInfo> ComponentFlags() { return kFlags; }

int RunComponent(std::span<char* const> arguments, const ComponentOptions& options,
                 const ComponentSetup& setup) {
  const FlagTable table(options);
  const Result<Flags> flags = Flags::Parse(table.flags, arguments);
  if (!flags.ok()) return Fail(flags.status(), kUsage);
  if (flags->help()) {
    std::fputs(FlagsHelp(options.intro, table.flags).c_str(), stdout);
    return 0;
  }
  if (options.check) {
    const Status sound = options.check(*flags);
    if (!sound.ok()) return Fail(sound, kUsage);
  }
  Result<ManagerOptions> manager_options = ManagerOptionsFrom(*flags, options);
  if (!manager_options.ok()) return Fail(manager_options.status(), kUsage);
  // RunOperator does the rest; its flags with the same names are compatible.
  std::string name = options.name;
  std::vector<char*> argv = {name.data()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const Result<Config> config = LoadConfig({.kubeconfig = flags->Get("kubeconfig"), .context = {}});
  if (!config.ok()) return Fail(config.status(), kFailed);
  return RunOperator(static_cast<int>(argv.size()), argv.data(),
                     {.name = options.name,
                      .description = "",
                      .manager = *std::move(manager_options),
                      .flags = table.flags},
                     [&](Manager& manager, const Flags&) -> Status {
                       const Component component{manager, *flags, *config};
                       COX_ASSIGN_OR_RETURN(std::shared_ptr<SecureServing> serving,
                                            SecureServing::Start(manager.context(), component));
                       COX_RETURN_IF_ERROR(setup(component));
                       if (serving == nullptr) return {};
                       // Owned by a runnable, so that it is destroyed before the manager.
                       return manager.Add(
                           "serving",
                           [serving](Context& ctx) {
                             (void)AwaitStop(ctx);
                             return Status();
                           },
                           /*needs_leader_election=*/false);
                     });
}

}  // namespace cox::cmd
