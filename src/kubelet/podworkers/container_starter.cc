// SPDX-License-Identifier: Apache-2.0
#include "kubelet/podworkers/container_starter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/file_watch.h"
#include "base/strings.h"
#include "kubelet/configs/container_config.h"
#include "kubelet/configs/hosts.h"
#include "kubelet/configs/log_paths.h"
#include "kubelet/containers/hooks.h"
#include "kubelet/containers/termination_message.h"
#include "kubelet/volumes/files/file_tree.h"
#include "kubelet/volumes/plugin/paths.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;

namespace {

constexpr std::chrono::seconds kTryAgain{10};
constexpr std::chrono::minutes kRuntimeTime{2};
// The timeout for reading config maps and secrets, so that an unreachable API server does not block
// workers.
constexpr std::chrono::seconds kConfigTime{10};

int64_t Amount(const core::v1::Node& node, std::string_view resource) {
  const Quantity* quantity = node.status.allocatable.Get(resource);
  if (quantity == nullptr) return 0;
  return resource == "cpu" ? quantity->MilliValue() : quantity->Value();
}

std::vector<std::string> IpsOf(const Pod& pod, const runtime::PodState& state,
                               const Options& options) {
  if (pod.spec.hostNetwork) return options.node_ips;
  if (state.sandboxes.empty()) return {};
  return state.sandboxes.front().ips;
}

// Whether a file has this content. Containers can write to it, so a file of a different size is not
// read.
bool Has(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s {};
  if (!fd.valid() || ::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
  if (s.st_size != static_cast<off_t>(text.size())) return false;
  std::string is(text.size(), '\0');
  const ssize_t got = ::pread(fd.get(), is.data(), is.size(), 0);
  return got == static_cast<ssize_t>(text.size()) && is == text;
}

// An unchanged file is kept, because running containers have it mounted.
Status Replace(const std::string& path, const std::string& text, mode_t mode) {
  if (Has(path, text)) return {};
  COX_RETURN_IF_ERROR(RemoveTree(path));
  return WriteWhole(path, text, mode);
}

// The id of the container whose PID namespace an ephemeral container shares; "" if it has no
// target. The runtime rejects a target that does not run.
Result<std::string> TargetOf(const StartRequest& request) {
  for (const core::v1::EphemeralContainer& ephemeral : request.pod->spec.ephemeralContainers) {
    const std::string& name = ephemeral.targetContainerName;
    if (ephemeral.ephemeralContainerCommon.name != request.container.name || name.empty()) continue;
    const runtime::ContainerState* target = request.state.Newest(name);
    if (target == nullptr) return Status::NotFound("unable to find target container " + name);
    return target->id;
  }
  return std::string();
}

}  // namespace

ContainerStarter::ContainerStarter(const Context& ctx, const SyncParts& parts)
    : parts_(parts), ctx_(ctx.Child()) {}

ContainerStarter::~ContainerStarter() {
  ctx_.Stop();
  pending_.Wait();
}

PodFacts ContainerStarter::PodFactsOf(const Pod& pod, const runtime::PodState& state) const {
  PodFacts facts{.pod_ips = IpsOf(pod, state, parts_.options), .host_ips = parts_.options.node_ips};
  const auto node = parts_.node ? parts_.node() : nullptr;
  if (node == nullptr) return facts;
  facts.allocatable_milli_cpu = Amount(*node, "cpu");
  facts.allocatable_memory = Amount(*node, "memory");
  facts.allocatable_ephemeral_storage = Amount(*node, "ephemeral-storage");
  return facts;
}

StartOutcome ContainerStarter::Fail(const StartRequest& request, std::string reason,
                                    std::string message) {
  parts_.events.Record(*request.pod, EventKind::kWarning, "Failed", "Starting",
                       "Error: " + message);
  return {.kind = StartOutcome::Kind::kFailed,
          .waiting = {std::move(reason), std::move(message)},
          .again = ctx_.clock().Now() + kTryAgain};
}

StartOutcome ContainerStarter::Start(Context& ctx, const StartRequest& request) {
  Context limited = ctx.WithTimeout(kRuntimeTime);
  const PullResult image = parts_.images.Ensure(limited, *request.pod, request.container,
                                                request.start.attempt, request.sandbox);
  if (image.kind == PullResult::Kind::kPulling) {
    return {.kind = StartOutcome::Kind::kPulling, .again = {}};
  }
  if (image.kind == PullResult::Kind::kFailed) {
    return {.kind = StartOutcome::Kind::kFailed, .waiting = image.waiting, .again = image.again};
  }
  Context configuring = ctx.WithTimeout(kConfigTime);
  Result<cri::v1::ContainerConfig> config = Configure(configuring, request, image);
  if (!config.ok()) {
    return Fail(request, "CreateContainerConfigError", config.status().message());
  }
  const Result<std::string> id = parts_.runtime.CreateContainer(
      limited, request.state.sandboxes.front().id, *config, request.sandbox);
  if (!id.ok()) return Fail(request, "CreateContainerError", id.status().message());
  parts_.events.Record(*request.pod, EventKind::kNormal, "Created", "Starting",
                       "Created container: " + request.container.name);
  if (const Status started = parts_.runtime.StartContainer(limited, *id); !started.ok()) {
    StartOutcome outcome = Fail(request, "RunContainerError", started.message());
    outcome.made = true;
    return outcome;
  }
  parts_.events.Record(*request.pod, EventKind::kNormal, "Started", "Starting",
                       "Started container " + request.container.name);
  LinkLog(request, *config, *id);
  BeginHook(request, *id);
  return {.again = {}};
}

Result<cri::v1::ContainerConfig> ContainerStarter::Configure(Context& ctx,
                                                             const StartRequest& request,
                                                             const PullResult& image) {
  const Pod& pod = *request.pod;
  COX_ASSIGN_OR_RETURN(std::string target_id, TargetOf(request));
  EnvironmentInput input{.pod = pod,
                         .container = request.container,
                         .facts = PodFactsOf(pod, request.state),
                         .services = {}};
  if (parts_.services) {
    input.services = parts_.services(pod.metadata.namespace_);
    if (pod.metadata.namespace_ != "default") {
      for (auto& service : parts_.services("default")) {
        if (service->metadata.name == "kubernetes") input.services.push_back(std::move(service));
      }
    }
  }
  COX_ASSIGN_OR_RETURN(const Environment environment, MakeEnvironment(ctx, input, parts_.objects));
  if (!environment.skipped.empty()) {
    parts_.events.Record(pod, EventKind::kWarning, "InvalidEnvironmentVariableNames", "Starting",
                         "Keys [" + Join(environment.skipped, ", ") +
                             "] were skipped since they are considered invalid environment "
                             "variable names.");
  }
  ContainerInput made{.pod = pod,
                      .container = request.container,
                      .attempt = request.start.attempt,
                      .image_ref = image.ref,
                      .image_user = image.user,
                      .environment = environment,
                      .mounts = {},
                      .etc_hosts = {},
                      .termination_log = {},
                      .target_id = std::move(target_id)};
  COX_ASSIGN_OR_RETURN(made.mounts, parts_.volumes.MountsOf(pod, request.container, environment));
  COX_RETURN_IF_ERROR(
      PrepareFiles(request, input.facts.pod_ips, made.etc_hosts, made.termination_log));
  if (const auto node = parts_.node ? parts_.node() : nullptr) {
    const Quantity* memory = node->status.capacity.Get("memory");
    if (memory != nullptr) made.memory_capacity = memory->Value();
  }
  return MakeContainerConfig(made, parts_.options);
}

Status ContainerStarter::PrepareFiles(const StartRequest& request,
                                      const std::vector<std::string>& pod_ips,
                                      std::string& etc_hosts, std::string& termination_log) {
  const Options& options = parts_.options;
  const std::string& uid = request.pod->metadata.uid;
  const PodPaths paths(options.root_dir, uid);
  COX_RETURN_IF_ERROR(MakeDirectories(paths.pod(), 0750));
  std::string host_file;
  if (request.pod->spec.hostNetwork) host_file = ReadBoundedFile("/etc/hosts").value_or("");
  COX_RETURN_IF_ERROR(Replace(paths.etc_hosts(),
                              HostsFile(*request.pod, pod_ips, options.cluster_domain, host_file),
                              0644));
  etc_hosts = paths.etc_hosts();
  if (request.container.terminationMessagePath.empty()) return {};
  termination_log = TerminationLogPath(options, uid, request.container.name, request.start.attempt);
  COX_RETURN_IF_ERROR(
      MakeDirectories(termination_log.substr(0, termination_log.find_last_of('/')), 0750));
  // Writable for all, because the container's user is not known here.
  return Replace(termination_log, "", 0666);
}

// A failure is only logged: only log collectors need the symlink.
void ContainerStarter::LinkLog(const StartRequest& request, const cri::v1::ContainerConfig& config,
                               const std::string& id) {
  const auto& meta = request.pod->metadata;
  const std::string link = ContainerLogLink(parts_.options.pod_logs_dir, meta.namespace_, meta.name,
                                            request.container.name, id);
  if (link.empty()) return;
  const std::string log = request.sandbox.log_directory + "/" + config.log_path;
  const Status made = MakeDirectories(link.substr(0, link.find_last_of('/')), 0755);
  if (!made.ok() || (::symlink(log.c_str(), link.c_str()) != 0 && errno != EEXIST)) {
    COX_WARNING(ctx_.log(), "Could not create log symlink", {"link", link});
  }
}

std::set<std::string> ContainerStarter::Hooks(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto found = hooks_.find(uid);
  return found == hooks_.end() ? std::set<std::string>() : found->second;
}

struct ContainerStarter::Hook {
  std::shared_ptr<const Pod> pod;
  Container container;
  std::string id;
  std::string ip;
  PendingWork::Token pending;
};

void ContainerStarter::EndHook(const Hook& hook, const Status& status) {
  const std::string& uid = hook.pod->metadata.uid;
  if (!status.ok() && !ctx_.Done()) {
    COX_V(ctx_.log(), 4, "PostStart hook failed", {"container", hook.id},
          {"why", status.message()});
    // The event does not contain the error: hook output may be secret, and events have more
    // readers.
    parts_.events.Record(*hook.pod, EventKind::kWarning, "FailedPostStartHook", "Starting",
                         "PostStartHook failed");
    const int64_t grace = std::clamp<int64_t>(
        hook.pod->spec.terminationGracePeriodSeconds.value_or(30), 0, 1'000'000'000);
    parts_.killer.Kill({.pod = hook.pod,
                        .container = hook.container,
                        .id = hook.id,
                        .pod_ip = hook.ip,
                        .message = "FailedPostStartHook",
                        .grace = std::chrono::seconds(grace),
                        .wait_for_turn = false,
                        .seen = parts_.killer.ended()});
  }
  {
    MutexLock lock(mu_);
    std::set<std::string>& ids = hooks_[uid];
    ids.erase(hook.id);
    if (ids.empty()) hooks_.erase(uid);
  }
  parts_.wake(uid);
}

void ContainerStarter::BeginHook(const StartRequest& request, const std::string& id) {
  const auto& lifecycle = request.container.lifecycle;
  if (!lifecycle || !lifecycle->postStart) return;
  {
    MutexLock lock(mu_);
    hooks_[request.pod->metadata.uid].insert(id);
  }
  const std::vector<std::string> ips = IpsOf(*request.pod, request.state, parts_.options);
  const auto hook = std::make_shared<const Hook>(
      Hook{request.pod, request.container, id, ips.empty() ? "" : ips.front(), pending_.Begin()});
  RunHook(ctx_.Child(), *hook->container.lifecycle->postStart, {id, hook->ip, hook->container},
          {parts_.runtime, parts_.prober},
          [this, hook](const Status& status) { EndHook(*hook, status); });
}

}  // namespace cox::kubelet
