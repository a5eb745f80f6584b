// SPDX-License-Identifier: Apache-2.0
// `coxswain up`: starts a cluster.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/await_stop.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/oom_score.h"
#include "base/process_metrics.h"
#include "base/rotating_log.h"
#include "base/run_until_signal.h"
#include "base/scope.h"
#include "cmd/commands.h"
#include "cmd/up/children.h"
#include "cmd/up/cluster_objects.h"
#include "cmd/up/components.h"
#include "cmd/up/credentials.h"
#include "cmd/up/machine.h"
#include "cmd/up/node.h"
#include "cmd/up/progress.h"

namespace cox::cmd {
namespace {

using std::chrono::seconds;

// Time limit of the start.
constexpr seconds kStartLimit{120};
constexpr timespec kFirstTrim{.tv_sec = 5, .tv_nsec = 0};

// All parts of the cluster, in dependency order.
class Cluster {
 public:
  Cluster(const Context& ctx, Logging& logging, const UpOptions& options, Progress& progress)
      : ctx_(ctx),
        serving_(ctx.clock(), ctx.log()),
        logging_(logging),
        options_(options),
        progress_(progress) {}

  // Runs until `ctx` stops; then stops everything except containers.
  Status Run() {
    Status status = Start();
    if (status.ok()) {
      PrintNextSteps();
      (void)AwaitStop(ctx_);
    }
    Stop();
    if (!ctx_.Done()) return status;
    // Stopped by a signal, possibly during the start, or because a component has failed.
    return ctx_.status() == Context::Canceled() ? Status() : ctx_.status();
  }

 private:
  Status Start() {
    Context limit = ctx_.WithTimeout(kStartLimit);
    COX_ASSIGN_OR_RETURN(lock_, DataLock::Take(options_.paths));
    // containerd starts in parallel, because it takes as long as everything else together.
    Status runtime;
    Scope beside(limit, "start");
    if (options_.node) {
      COX_RETURN_IF_ERROR(beside.Go("runtime", [&](Context& ctx) { runtime = StartRuntime(ctx); }));
    }
    const Status control_plane = StartControlPlane(limit);
    if (!control_plane.ok()) beside.Stop();
    beside.Wait();
    COX_RETURN_IF_ERROR(control_plane);
    COX_RETURN_IF_ERROR(runtime);
    return options_.node ? StartNode(limit) : Status();
  }

  Status StartRuntime(Context& ctx) {
    if (!options_.runtime_endpoint.empty()) return {};
    COX_ASSIGN_OR_RETURN(runtime_, NodeRuntime::Start(serving_, options_));
    COX_RETURN_IF_ERROR(runtime_->WaitReady(ctx));
    progress_.Report(runtime_->adopted() ? "containerd found running" : "containerd ready");
    return {};
  }

  Status StartControlPlane(Context& ctx) {
    COX_RETURN_IF_ERROR(MakeCredentials());
    if (options_.etcd_servers.empty()) {
      COX_ASSIGN_OR_RETURN(etcd_, StartEtcd(serving_, options_));
      COX_RETURN_IF_ERROR(etcd_->WaitReady(ctx));
      progress_.Report(etcd_->adopted() ? "etcd found running" : "etcd ready");
    } else {
      COX_RETURN_IF_ERROR(EtcdResponds(ctx, options_).WithContext("--etcd-servers"));
    }
    process_metrics_ = AddProcessMetrics(metrics_);
    COX_ASSIGN_OR_RETURN(const Flags flags, ApiServerFlagsFor(options_));
    COX_ASSIGN_OR_RETURN(
        api_, ComposedApiServer::Start(serving_.WithLogger(logging_.For("kube-apiserver")), flags,
                                       metrics_,
                                       {.controller_manager = options_.ports.controller_manager,
                                        .scheduler = options_.ports.scheduler}));
    COX_RETURN_IF_ERROR(api_->server().WaitReady(ctx));
    progress_.Report("API server ready at " + options_.advertised_url());

    components_ = std::make_unique<Components>(
        serving_, logging_, api_->server(), [this](std::string_view name, const Status& why) {
          Context(ctx_).Stop(Status::Internal(std::string(name) + " has ended: " + why.message()));
        });
    admin_ = components_->ClientFor("coxswain-up", {"coxswain:up", {"system:masters"}});
    COX_RETURN_IF_ERROR(WriteClusterObjects(ctx, *admin_, options_));
    COX_RETURN_IF_ERROR(AddControlPlane(*components_, options_));
    progress_.Report("controllers and scheduler started");
    return {};
  }

  Status MakeCredentials() {
    COX_ASSIGN_OR_RETURN(const std::vector<std::string> made,
                         EnsureCredentials(options_, ctx_.clock().Now()));
    progress_.Report(made.empty() ? "certificates are good" : "certificates made");
    renewal_.emplace(serving_, "credentials");
    return renewal_->Go("credentials", [this](Context& ctx) { KeepCredentials(ctx, options_); });
  }

  Status StartNode(Context& ctx) {
    if (options_.runtime_endpoint.empty()) {  // an external runtime manages its own network
      const Status filtered = FilterBridged(ctx);
      if (!filtered.ok()) progress_.Report(filtered.message());
    }
    COX_RETURN_IF_ERROR(AddNode(*components_, *admin_, ctx, options_));
    progress_.Report("node agent, proxy and DNS started");
    COX_RETURN_IF_ERROR(AwaitNodeReady(ctx, *admin_, options_.node_name));
    progress_.Report("node " + options_.node_name + " Ready");
    return {};
  }

  void PrintNextSteps() {
    const char* const configured = std::getenv("KUBECONFIG");
    std::string text = "\nThe cluster is up. Try:\n";
    if (configured == nullptr || options_.kubeconfig != configured) {
      text += "  export KUBECONFIG=" + options_.kubeconfig.string() + "\n";
    }
    text += options_.node ? "  kubectl get nodes -o wide\n"
                            "  kubectl create deployment web --image=nginx --replicas=2\n"
                            "  kubectl get pods -w\n"
                          : "  kubectl get namespaces\n";
    text += "Ctrl-C stops it";
    if (options_.node) text += "; containers run on until `coxswain down`";
    text += ". Logs: " + options_.paths.logs().string() + "\n";
    progress_.Print(text);
  }

  void Stop() {
    if (renewal_) renewal_->Stop();
    renewal_.reset();
    if (components_ != nullptr) components_->Stop();
    admin_.reset();
    components_.reset();
    if (api_ != nullptr) api_->Drain();
    api_.reset();
    const Context limit = serving_.WithTimeout(seconds(30));
    if (runtime_ != nullptr) LogFailure(runtime_->End(limit), "containerd");
    if (etcd_ != nullptr) LogFailure(etcd_->End(limit, seconds(10)), "etcd");
    serving_.Stop();
  }

  void LogFailure(const Status& status, std::string_view program) {
    if (!status.ok()) COX_ERROR(ctx_.log(), status, "Could not stop program", {"program", program});
  }

  const Context ctx_;
  // The context of parts that are stopped in order after `ctx_` has stopped: components still send
  // requests to the API server.
  Context serving_;
  Logging& logging_;
  const UpOptions& options_;
  Progress& progress_;
  std::unique_ptr<DataLock> lock_;
  std::unique_ptr<NodeRuntime> runtime_;
  std::unique_ptr<Supervisor> etcd_;
  MetricsRegistry metrics_{MetricStyle::kComponent};
  std::vector<MetricHandle> process_metrics_;
  std::unique_ptr<ComposedApiServer> api_;
  std::unique_ptr<Components> components_;
  std::shared_ptr<Client> admin_;
  std::optional<Scope> renewal_;
};

// The log goes to a file if stderr is a terminal; otherwise, as under systemd, to stderr.
std::unique_ptr<LogSink> OpenLog(const UpOptions& options) {
  if (::isatty(STDERR_FILENO) != 0) {
    std::error_code error;
    std::filesystem::create_directories(options.paths.logs(), error);
    auto file = RotatingLogFile::Open(options.paths.logs() / "coxswain.log", options.log_limits);
    if (file.ok()) return *std::move(file);
  }
  return std::make_unique<FdLogSink>(STDERR_FILENO);
}

void PrintStopping(int, bool again) {
  if (again) return;
  std::fputs("\nStopping; once more to end at once.\n", stdout);
  std::fflush(stdout);
}

int Fail(const Status& status) {
  std::fprintf(stderr, "Error: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int RunUp(std::span<char* const> arguments) {
  const Result<Flags> flags = Flags::Parse(UpFlags(), arguments);
  if (!flags.ok()) return Fail(flags.status());
  if (flags->help()) {
    std::fputs(FlagsHelp(UpIntro(), UpFlags()).c_str(), stdout);
    return 0;
  }
  const Result<UpOptions> options = UpOptionsFrom(*flags);
  if (!options.ok()) return Fail(options.status());
  RealClock clock;
  Progress progress(clock);
  if (const Status status = CheckMachine(*options); !status.ok()) return Fail(status);

  BoundHeap();
  const sigset_t signals = BlockSignals({SIGTERM, SIGINT, SIGHUP});

  const std::unique_ptr<LogSink> sink = OpenLog(*options);
  Logging logging(clock, LogFormat::kText, *sink);
  logging.SetDefaultLevel(options->verbosity);
  Context ctx(clock, logging.For("up"));
  TrySetOomScoreAdj(ctx.log(), 0, kNodeOomScoreAdj);
  const UntilSignalOptions until = {
      .signals = signals, .name = "up", .trim_after = kFirstTrim, .on_signal = PrintStopping};
  const Status status = RunUntilSignal(ctx, until, [&] {
    Cluster cluster(ctx, logging, *options, progress);
    return cluster.Run();
  });
  ctx.Stop();
  return status.ok() ? 0 : Fail(status);
}

}  // namespace cox::cmd
