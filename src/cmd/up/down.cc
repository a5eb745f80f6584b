// SPDX-License-Identifier: Apache-2.0
// `coxswain down`: stops all processes of a cluster on this machine and removes its files.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <vector>

#include "base/log.h"
#include "base/program.h"
#include "base/scope.h"
#include "cmd/commands.h"
#include "cmd/up/children.h"
#include "cmd/up/machine.h"
#include "cmd/up/options.h"
#include "cmd/up/progress.h"
#include "dns/dns.h"
#include "proxy/proxy.h"
#include "runtime/cri/cri_runtime.h"

namespace cox::cmd {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr seconds kRuntimeLimit{60};  // for operations of the container runtime

constexpr std::string_view kIntro =
    R"(Stops a cluster that `coxswain up` created on this machine: the control plane, containers, etcd and containerd.
Removes its files, mounts, network links and packet filter rules.

Usage:
  coxswain down [flags]

Examples:
  coxswain down                  # removes everything
  coxswain down --keep-data      # keeps objects, certificates and images for the next `coxswain up`
)";

constexpr FlagInfo kFlags[] = {
    {"Cluster", "data-dir", "dir", "/var/lib/coxswain", "Directory with the state of the cluster"},
    {"Cluster", "keep-data", "", "false", "Keep the data of etcd, certificates and images"},
    {"Cluster", "container-runtime-endpoint", "url", "",
     "Socket of the container runtime that `up` used; all Pods in it are stopped"},
    {"Cluster", "grace-period", "seconds", "5", "Time in seconds that containers get to stop"},
    {"Logging", "v", "level", "0", "Log verbosity"},
};

class Teardown {
 public:
  Teardown(const Context& ctx, UpPaths paths, seconds grace, const Flags& flags)
      : ctx_(ctx),
        paths_(std::move(paths)),
        grace_(grace),
        keep_data_(flags.GetBool("keep-data")),
        endpoint_(flags.Get("container-runtime-endpoint")) {}

  // Continues when a step fails, and returns the first error. Nothing is removed while the control
  // plane is running.
  Status Run(Progress& progress) {
    COX_RETURN_IF_ERROR(EndControlPlane());
    progress.Report("control plane gone");
    const std::pair<const char*, Status (Teardown::*)()> steps[] = {
        {"Pods", &Teardown::EndPods},      {"containerd", &Teardown::EndContainerd},
        {"etcd", &Teardown::EndEtcd},      {"network", &Teardown::RemoveNetwork},
        {"files", &Teardown::RemoveFiles},
    };
    Status first;
    for (const auto& [name, step] : steps) {
      const Status status = (this->*step)();
      if (status.ok()) {
        progress.Report(std::string(name) + " gone");
      } else {
        std::fprintf(stderr, "%s: %s\n", name, status.message().c_str());
        if (first.ok()) first = status;
      }
    }
    return first;
  }

 private:
  Status EndControlPlane() {
    if (const auto holder = DataLock::Holder(paths_)) {
      COX_RETURN_IF_ERROR(EndProcess(ctx_, *holder, seconds(45)));
    }
    // Prevents a service manager from restarting it meanwhile.
    COX_ASSIGN_OR_RETURN(lock_, DataLock::Take(paths_));
    return {};
  }

  // Uses the container runtime, which also removes the Pods' networks; starts containerd if it has
  // stopped.
  Status EndPods() {
    std::error_code error;
    if (!endpoint_.empty()) return EndPodsIn(endpoint_);
    if (!fs::exists(paths_.containerd_config(), error)) return {};
    COX_ASSIGN_OR_RETURN(const auto containerd,
                         Supervisor::Start(ctx_, ContainerdProgram(ctx_, paths_)));
    Context limit = ctx_.WithTimeout(kRuntimeLimit);
    COX_RETURN_IF_ERROR(containerd->WaitReady(limit));
    return EndPodsIn(paths_.runtime_endpoint());
  }

  Status EndPodsIn(const std::string& endpoint) {
    COX_ASSIGN_OR_RETURN(const auto runtime, runtime::ConnectCri(ctx_, endpoint));
    Context listing = ctx_.WithTimeout(kRuntimeLimit);
    COX_ASSIGN_OR_RETURN(const auto pods, runtime->ListPods(listing));
    // Pods are stopped in parallel; the containers of a Pod sequentially, each with its grace
    // period.
    size_t most = 0;
    for (const runtime::PodState& pod : pods) most = std::max(most, pod.containers.size());
    const Context limit = ctx_.WithTimeout(kRuntimeLimit + grace_ * static_cast<int>(most));
    Scope scope(limit, "pods");
    std::vector<Status> ended(pods.size());
    for (size_t i = 0; i < pods.size(); ++i) {
      COX_RETURN_IF_ERROR(scope.Go("pod " + std::to_string(i), [&, i](Context& work) {
        ended[i] = EndPod(work, *runtime, pods[i]);
      }));
    }
    scope.Wait();
    for (const Status& status : ended) COX_RETURN_IF_ERROR(status);
    return {};
  }

  Status EndPod(Context& ctx, runtime::Runtime& runtime, const runtime::PodState& pod) {
    for (const runtime::ContainerState& container : pod.containers) {
      // A container that does not stop is killed with its sandbox.
      (void)runtime.StopContainer(ctx, container.id, grace_);
    }
    for (const runtime::SandboxState& sandbox : pod.sandboxes) {
      COX_RETURN_IF_ERROR(runtime.StopSandbox(ctx, sandbox.id));
      COX_RETURN_IF_ERROR(runtime.RemoveSandbox(ctx, sandbox.id));
    }
    return {};
  }

  Status EndContainerd() {
    if (const auto running = FindProcess("containerd", ContainerdMark(paths_))) {
      COX_RETURN_IF_ERROR(EndProcess(ctx_, *running, seconds(10)));
    }
    // Shims of containers that could not be stopped gracefully.
    const std::string socket = paths_.containerd_socket();
    while (const auto shim = FindProcess(kShim, socket)) {
      COX_RETURN_IF_ERROR(EndProcess(ctx_, *shim, seconds(1)));
    }
    return {};
  }

  Status EndEtcd() {
    const auto running = FindProcess("etcd", EtcdMark(paths_));
    return running ? EndProcess(ctx_, *running, seconds(10)) : Status();
  }

  Status RemoveNetwork() {
    std::error_code error;
    if (!fs::exists(paths_.cni(), error)) return {};  // the cluster had no node
    COX_RETURN_IF_ERROR(RemoveLink(paths_.bridge()));
    COX_RETURN_IF_ERROR(dns::CleanUp());
    RemovePodGroups(paths_.cgroup_root());
    RemoveIfUnused("cni_plugins_masquerade", {"masq_checks"});
    RemoveIfUnused("cni_hostport", {"hostports", "hostip_hostports"});
    return proxy::CleanUp();
  }

  // Removes a table of the CNI plugins, which they share with other users and never remove. It is
  // unused if the chains for the rules of Pods are empty. Without `nft` the table is kept; it has
  // no effect.
  void RemoveIfUnused(const std::string& table, const std::vector<std::string>& chains) {
    const std::string nft = FindProgram("nft");
    const auto run = [&](std::vector<std::string> words) -> std::string {
      words.insert(words.begin(), nft);
      const auto result = RunProgram(ctx_, {.arguments = std::move(words), .environment = {}});
      return result.ok() ? result->output : "";
    };
    if (nft.empty()) return;
    const std::string tables = run({"list", "tables"});
    for (const char* family : {"ip", "ip6", "inet"}) {
      const std::string line = "table " + std::string(family) + " " + table + "\n";
      if (tables.find(line) == std::string::npos) continue;
      const std::string rules = run({"-j", "list", "table", family, table});
      const bool used =
          rules.empty() || std::any_of(chains.begin(), chains.end(), [&](const std::string& chain) {
            return rules.find("\"chain\": \"" + chain + "\"") != std::string::npos;
          });
      if (!used) run({"delete", "table", family, table});
    }
  }

  Status RemoveFiles() {
    COX_RETURN_IF_ERROR(UnmountBelow(paths_.data));
    std::error_code error;
    if (!fs::exists(paths_.data, error)) return {};
    if (!keep_data_) {
      // The lock is removed last, because it identifies the folder if this is interrupted.
      for (const fs::directory_entry& entry : fs::directory_iterator(paths_.data, error)) {
        if (entry.path() != paths_.lock()) fs::remove_all(entry.path(), error);
        if (error) break;
      }
      if (!error) fs::remove_all(paths_.data, error);
    } else {
      for (const fs::path& path :
           {paths_.data / "run", paths_.kubelet(), paths_.cni(), paths_.logs()}) {
        fs::remove_all(path, error);
        if (error) break;
      }
    }
    return error
               ? Status::Internal("cannot remove " + paths_.data.string() + ": " + error.message())
               : Status();
  }

  const Context ctx_;
  const UpPaths paths_;
  const seconds grace_;
  const bool keep_data_;
  const std::string endpoint_;  // an external runtime
  std::unique_ptr<DataLock> lock_;
};

int Fail(const Status& status) {
  std::fprintf(stderr, "Error: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int RunDown(std::span<char* const> arguments) {
  const Result<Flags> flags = Flags::Parse(kFlags, arguments);
  if (!flags.ok()) return Fail(flags.status());
  if (flags->help()) {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), stdout);
    return 0;
  }
  const Result<int64_t> grace = flags->GetInt("grace-period", 0, 3600);
  const Result<int64_t> level = flags->GetInt("v", 0, 10);
  if (!grace.ok()) return Fail(grace.status());
  if (!level.ok()) return Fail(level.status());
  std::signal(SIGPIPE, SIG_IGN);
  std::error_code error;
  UpPaths paths(DataDirFrom(*flags));
  if (!fs::exists(paths.data, error)) {
    std::printf("There is no cluster in %s.\n", paths.data.c_str());
    return 0;
  }
  // Protects against deletion of a wrong --data-dir. Must be a regular file: /var/lock is a link to
  // a folder.
  if (!fs::is_regular_file(paths.lock(), error)) {
    return Fail(Status::BadRequest(paths.data.string() + " was not made by coxswain up"));
  }
  if (::access(paths.data.c_str(), W_OK | X_OK) != 0) {
    return Fail(
        Status::Forbidden("cannot write to " + paths.data.string() + ": run this with sudo"));
  }
  RealClock clock;
  FdLogSink sink(STDERR_FILENO);
  Logging logging(clock, LogFormat::kText, sink);
  logging.SetDefaultLevel(static_cast<int>(*level));
  Context ctx(clock, *level > 0 ? logging.For("down") : Logger());
  Progress progress(clock);
  Teardown demolition(ctx, std::move(paths), seconds(*grace), *flags);
  const Status status = demolition.Run(progress);
  ctx.Stop();
  return status.ok() ? 0 : Fail(status);
}

}  // namespace cox::cmd
