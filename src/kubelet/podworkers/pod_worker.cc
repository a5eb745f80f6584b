// SPDX-License-Identifier: Apache-2.0
#include "kubelet/podworkers/pod_worker.h"

#include <algorithm>

#include "api/node/v1.h"
#include "base/file_watch.h"
#include "base/strings.h"
#include "kubelet/configs/dns.h"
#include "kubelet/configs/log_paths.h"
#include "kubelet/configs/sandbox_config.h"
#include "kubelet/containers/leftovers.h"
#include "kubelet/containers/termination_message.h"
#include "kubelet/volumes/files/file_tree.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;
using runtime::ContainerState;
using runtime::PodState;

namespace {

// Consecutive syncs of a Pod before it is requeued.
constexpr int kMaxRounds = 8;
constexpr std::chrono::minutes kRuntimeTime{4};
constexpr std::chrono::seconds kVolumesTime{30};

// The API has no upper limit for it; a duration does.
std::chrono::seconds Grace(int64_t seconds) {
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, 1'000'000'000));
}

// Removes a log and its rotated files: "0.log.20260101-000000.gz".
void RemoveLogs(const std::string& log) {
  const size_t slash = log.find_last_of('/');
  const std::string folder = log.substr(0, slash);
  const std::string name = log.substr(slash + 1);
  const auto names = ListDirectory(folder);
  if (!names.ok()) return;
  for (const std::string& other : *names) {
    if (other == name || other.starts_with(name + ".")) (void)RemoveTree(folder + "/" + other);
  }
}

}  // namespace

// The state of one sync of a Pod.
struct PodWorker::SyncState {
  const PodUpdate& order;
  PodWorkerState& memory;
  SyncResult& result;
  PodState state;
  PodState shown;  // as seen by probes and the status
  PodProbeResults probes;
  Clock::WallTime now{};
  uint64_t ended_before = 0;  // see KillOrder::seen
  std::optional<PodEnd> end;
  PodActions actions;

  const Pod& pod() const { return *order.pod; }
  const std::string& uid() const { return order.pod->metadata.uid; }
  std::string pod_ip() const {
    const bool none = state.sandboxes.empty() || state.sandboxes.front().ips.empty();
    return none ? "" : state.sandboxes.front().ips.front();
  }
  void Again(Clock::WallTime at) { result.again = std::min(result.again.value_or(at), at); }
  void Failed(const Status& status) {
    if (result.status.ok()) result.status = status;
  }
};

PodWorker::PodWorker(const Context& ctx, const SyncParts& parts)
    : parts_(parts), starter_(ctx, parts) {}

SyncResult PodWorker::Sync(Context& ctx, const PodUpdate& order, PodWorkerState& memory) {
  SyncResult result;
  for (int round = 0; round < kMaxRounds; ++round) {
    result = {};
    SyncState sync{.order = order, .memory = memory, .result = result};
    if (const Status status = Observe(ctx, sync); !status.ok()) {
      result.status = status;
      return result;
    }
    // Report the current status first, because starting containers may take a while.
    ReportStatus(sync);
    const bool changed = CarryOut(ctx, sync);
    // Also after an error: the runtime may have executed the call without a response.
    if (changed || !result.status.ok()) parts_.pleg.Invalidate(order.pod->metadata.uid);
    if (!changed || !result.status.ok()) {
      ReportStatus(sync);
      return result;
    }
  }
  // The Pod does not settle: requeue it behind the others.
  result.again = ctx.clock().Now();
  return result;
}

Status PodWorker::Observe(Context& ctx, SyncState& sync) {
  const Clock& clock = ctx.clock();
  Context limited = ctx.WithTimeout(kRuntimeTime);
  sync.ended_before = parts_.killer.ended();
  COX_ASSIGN_OR_RETURN(sync.state, parts_.pleg.Get(limited, sync.uid()));
  const Pod& pod = sync.pod();
  // The runtime returns no addresses for host-network Pods: they use the node's.
  if (pod.spec.hostNetwork && !sync.state.sandboxes.empty()) {
    sync.state.sandboxes.front().ips = parts_.options.node_ips;
  }
  AddTerminationMessages(parts_.options, pod, parts_.status.Get(sync.uid()).value_or(pod.status),
                         sync.state);
  sync.now = clock.Now();
  sync.end = sync.order.end;
  if (sync.order.gone) {
    // The grace period is unknown, so the one of the spec applies.
    if (!sync.memory.gone_deadline) {
      const int64_t grace = pod.spec.terminationGracePeriodSeconds.value_or(30);
      sync.memory.gone_deadline = sync.now + Grace(grace);
    }
    sync.end = PodEnd{.reason = {}, .message = {}, .deadline = *sync.memory.gone_deadline};
  }
  // Until its postStart hook has ended, a container is reported as created: not probed, not ready.
  sync.shown = sync.state;
  const std::set<std::string> in_hook = starter_.Hooks(sync.uid());
  for (ContainerState& container : sync.shown.containers) {
    const bool runs = container.phase == ContainerState::Phase::kRunning;
    if (runs && in_hook.contains(container.id)) container.phase = ContainerState::Phase::kCreated;
  }
  if (!sync.memory.torn_down) parts_.probes.Update(pod, sync.shown);
  sync.probes = parts_.probes.Results(sync.uid());
  const auto& given = pod.metadata.deletionGracePeriodSeconds;
  if (pod.metadata.deletionTimestamp && given) {
    // Counted from when the deletion was first observed; a later deletion may shorten it.
    const Clock::WallTime by = sync.now + Grace(*given);
    sync.memory.delete_by = std::min(sync.memory.delete_by.value_or(by), by);
  }
  sync.actions = Decide({pod, sync.state, sync.probes, sync.memory.backoff, sync.now, sync.end,
                         sync.memory.restart, sync.memory.delete_by});
  if (sync.actions.requeue_at) sync.Again(*sync.actions.requeue_at);
  return {};
}

bool PodWorker::CarryOut(Context& ctx, SyncState& sync) {
  OrderKills(sync);
  NoteBackoffs(sync);
  const PodActions& actions = sync.actions;
  if (actions.ended) {
    Finish(ctx, sync);
    return false;
  }
  bool changed = StopAndRemove(ctx, sync);
  if (actions.ending || !sync.result.status.ok()) return changed;
  parts_.objects.Register(sync.pod());
  // Also if nothing is started: objects of the volumes may have changed.
  if (!EnsureVolumes(ctx, sync)) return changed;
  if (actions.make_sandbox && actions.kill.empty()) return MakeSandbox(ctx, sync) || changed;
  changed |= StartContainers(ctx, sync);
  if (!changed) changed |= RemoveLeftovers(ctx, sync);
  return changed;
}

void PodWorker::OrderKills(SyncState& sync) {
  for (const ContainerToKill& kill : sync.actions.kill) {
    if (kill.restart) sync.memory.restart.insert(kill.id);
    KillOrder order{.pod = sync.order.pod,
                    .container = {},
                    .id = kill.id,
                    .pod_ip = sync.pod_ip(),
                    .message = kill.message,
                    .grace = kill.grace,
                    .wait_for_turn = kill.wait_for_turn,
                    .seen = sync.ended_before};
    order.container.name = kill.name;
    ForEachContainer(sync.pod(), [&](const Container& container, ContainerKind) {
      if (container.name == kill.name) order.container = container;
    });
    parts_.killer.Kill(std::move(order));
  }
}

bool PodWorker::StopAndRemove(Context& ctx, SyncState& sync) {
  bool changed = false;
  Context limited = ctx.WithTimeout(kRuntimeTime);
  for (const std::string& id : sync.actions.stop_sandboxes) {
    const Status status = parts_.runtime.StopSandbox(limited, id);
    if (!status.ok()) {
      parts_.events.Record(sync.pod(), EventKind::kWarning, "FailedKillPod", "Killing",
                           "error killing pod: failed to \"KillPodSandbox\" for \"" + sync.uid() +
                               "\": " + status.message());
      sync.Failed(status);
    }
    changed |= status.ok();
  }
  for (const std::string& id : sync.actions.remove) {
    const Status status = parts_.runtime.RemoveContainer(limited, id);
    if (!status.ok()) sync.Failed(status);
    changed |= status.ok();
  }
  return changed;
}

bool PodWorker::EnsureVolumes(Context& ctx, SyncState& sync) {
  PodWorkerState& memory = sync.memory;
  const Pod& pod = sync.pod();
  const bool due = memory.volumes_again && sync.now >= *memory.volumes_again;
  // Labels and annotations may be projected into files.
  const bool same_pod = memory.volumes_pod != nullptr &&
                        (memory.volumes_pod == sync.order.pod ||
                         (memory.volumes_pod->metadata.labels == pod.metadata.labels &&
                          memory.volumes_pod->metadata.annotations == pod.metadata.annotations));
  if (memory.volumes_version != sync.order.objects_version || due || !same_pod) {
    Context limited = ctx.WithTimeout(kVolumesTime);
    const auto set_up = parts_.volumes.SetUp(limited, pod, starter_.PodFactsOf(pod, sync.state));
    if (!set_up.ok()) {
      parts_.events.Record(pod, EventKind::kWarning, "FailedMount", "Mounting",
                           set_up.status().message());
      sync.Failed(set_up.status());
      // If the volumes were set up before, a missing object (a deleted config map) does not prevent
      // restarts: the container uses the existing files.
      return memory.volumes_version.has_value();
    }
    memory.volumes_version = sync.order.objects_version;
    memory.volumes_pod = sync.order.pod;
    memory.volumes_again = set_up->again;
  }
  if (memory.volumes_again) sync.Again(*memory.volumes_again);
  return true;
}

Result<std::string> PodWorker::RuntimeHandler(Context& ctx, const Pod& pod) {
  const std::string name = pod.spec.runtimeClassName.value_or("");
  if (name.empty()) return std::string();
  const auto found = parts_.client.Get<node::v1::RuntimeClass>(ctx, {"", name});
  if (found.ok()) return found->handler;
  return Status(found.status().reason(),
                "failed to get sandbox runtime: " + found.status().message());
}

Result<cri::v1::PodSandboxConfig> PodWorker::SandboxConfig(const Pod& pod, uint32_t attempt) {
  const std::string resolv = ReadBoundedFile(parts_.options.resolv_conf).value_or("");
  return MakeSandboxConfig(pod, attempt, parts_.options, ParseResolvConf(resolv));
}

bool PodWorker::MakeSandbox(Context& ctx, SyncState& sync) {
  const Pod& pod = sync.pod();
  const auto failed = [&](std::string_view reason, const std::string& text, const Status& status) {
    parts_.events.Record(pod, EventKind::kWarning, reason, "Starting", text + status.message());
    sync.Failed(status);
    return false;
  };
  if (const Status status = parts_.cgroups.Ensure(pod); !status.ok()) {
    return failed("FailedCreatePodContainer", "unable to ensure pod container exists: ", status);
  }
  const std::string text = "Failed to create pod sandbox: ";
  const auto config = SandboxConfig(pod, *sync.actions.make_sandbox);
  if (!config.ok()) return failed("FailedCreatePodSandBox", text, config.status());
  if (const Status made = MakeDirectories(config->log_directory, 0755); !made.ok()) {
    return failed("FailedCreatePodSandBox", text, made);
  }
  Context limited = ctx.WithTimeout(kRuntimeTime);
  const Result<std::string> handler = RuntimeHandler(limited, pod);
  if (!handler.ok()) return failed("FailedCreatePodSandBox", text, handler.status());
  const Status ran = parts_.runtime.RunSandbox(limited, *config, *handler).status();
  if (!ran.ok()) return failed("FailedCreatePodSandBox", text, ran);
  return true;
}

bool PodWorker::StartContainers(Context& ctx, SyncState& sync) {
  PodWorkerState& memory = sync.memory;
  // Drop waiting reasons of containers that neither start nor wait.
  std::erase_if(memory.waiting, [&](const auto& entry) {
    const auto is_it = [&entry](const auto& other) { return other.name == entry.first; };
    return std::none_of(sync.actions.start.begin(), sync.actions.start.end(), is_it) &&
           std::none_of(sync.actions.waiting.begin(), sync.actions.waiting.end(), is_it);
  });
  if (sync.actions.start.empty()) return false;
  const auto sandbox = SandboxConfig(sync.pod(), sync.state.sandboxes.front().attempt);
  if (!sandbox.ok()) {
    sync.Failed(sandbox.status());
    return false;
  }
  bool changed = false;
  for (const ContainerToStart& start : sync.actions.start) {
    if (starter_.InHook(sync.uid())) break;
    std::optional<Container> container;
    ForEachContainer(sync.pod(), [&](const Container& spec, ContainerKind) {
      if (spec.name == start.name) container = spec;
    });
    if (!container) continue;
    const StartOutcome outcome =
        starter_.Start(ctx, {sync.order.pod, *container, start, sync.state, *sandbox});
    switch (outcome.kind) {
      case StartOutcome::Kind::kStarted:
        if (start.failed) memory.backoff.Began(start.name, *start.failed, sync.now);
        memory.waiting.erase(start.name);
        changed = true;
        break;
      case StartOutcome::Kind::kPulling:
        // The last waiting reason stays until the pull has ended.
        break;
      case StartOutcome::Kind::kFailed:
        memory.waiting[start.name] = outcome.waiting;
        // The created container triggers an event and so another sync; backoff prevents a tight
        // loop.
        if (outcome.made && start.failed) {
          memory.backoff.Began(start.name, *start.failed, sync.now);
        }
        parts_.pleg.Invalidate(sync.uid());
        if (outcome.again) {
          sync.Again(*outcome.again);
        } else {
          sync.Failed(Status::Unavailable(outcome.waiting.message));
        }
        break;
    }
  }
  return changed;
}

void PodWorker::NoteBackoffs(SyncState& sync) {
  for (const ContainerInBackoff& waiting : sync.actions.waiting) {
    sync.memory.waiting[waiting.name] = {"CrashLoopBackOff", waiting.message};
    const ContainerState* newest = sync.state.Newest(waiting.name);
    const uint32_t attempt = newest == nullptr ? 0 : newest->attempt;
    const auto told = sync.memory.reported_backoff.find(waiting.name);
    if (told != sync.memory.reported_backoff.end() && told->second == attempt) continue;
    sync.memory.reported_backoff[waiting.name] = attempt;
    parts_.events.Record(sync.pod(), EventKind::kWarning, "BackOff", "Restarting",
                         "Back-off restarting failed container " + waiting.name + " in pod " +
                             sync.pod().metadata.name + "_" + sync.pod().metadata.namespace_ + "(" +
                             sync.uid() + ")");
  }
}

bool PodWorker::RemoveLeftovers(Context& ctx, SyncState& sync) {
  const Leftovers leftovers = FindLeftovers(sync.state);
  Context limited = ctx.WithTimeout(kRuntimeTime);
  const auto& meta = sync.pod().metadata;
  const std::string logs =
      PodLogDirectory(parts_.options.pod_logs_dir, meta.namespace_, meta.name, meta.uid);
  bool changed = false;
  for (const ContainerState& container : leftovers.containers) {
    const Status status = parts_.runtime.RemoveContainer(limited, container.id);
    if (!status.ok()) {
      sync.Failed(status);
      continue;
    }
    RemoveLogs(logs + "/" + ContainerLogName(container.name, container.attempt));
    (void)RemoveTree(
        TerminationLogPath(parts_.options, meta.uid, container.name, container.attempt));
    Unlink(sync, container);
    sync.memory.restart.erase(container.id);
    changed = true;
  }
  for (const std::string& id : leftovers.sandboxes) {
    const Status status = parts_.runtime.RemoveSandbox(limited, id);
    if (!status.ok()) sync.Failed(status);
    changed |= status.ok();
  }
  return changed;
}

// Removes the log symlink of a removed container.
void PodWorker::Unlink(const SyncState& sync, const ContainerState& container) {
  const auto& meta = sync.pod().metadata;
  const std::string link = ContainerLogLink(parts_.options.pod_logs_dir, meta.namespace_, meta.name,
                                            container.name, container.id);
  if (!link.empty()) (void)RemoveTree(link);
}

// Cleans up a Pod that has ended for good.
void PodWorker::Finish(Context& ctx, SyncState& sync) {
  PodWorkerState& memory = sync.memory;
  const std::string& uid = sync.uid();
  if (!memory.torn_down) {
    parts_.probes.Remove(uid);
    parts_.images.Forget(uid);
    parts_.objects.Unregister(uid);
    if (const Status status = parts_.volumes.TearDown(uid); !status.ok()) {
      parts_.events.Record(sync.pod(), EventKind::kWarning, "FailedUnmount", "Killing",
                           status.message());
      return sync.Failed(status);
    }
    if (const Status status = parts_.cgroups.Remove(sync.pod()); !status.ok()) {
      return sync.Failed(status);
    }
    memory.torn_down = true;
  }
  const bool deleted = sync.pod().metadata.deletionTimestamp.has_value();
  if (!deleted && !sync.order.gone) return;
  if (!memory.removed) {
    if (const Status status = RemoveAll(ctx, sync); !status.ok()) return sync.Failed(status);
    memory.removed = true;
  }
  if (sync.order.gone) {
    parts_.status.Forget(uid);
    sync.result.forget = true;
  } else {
    parts_.status.SetFinished(sync.pod());
  }
}

Status PodWorker::RemoveAll(Context& ctx, SyncState& sync) {
  Context limited = ctx.WithTimeout(kRuntimeTime);
  for (const ContainerState& container : sync.state.containers) {
    COX_RETURN_IF_ERROR(parts_.runtime.RemoveContainer(limited, container.id));
    Unlink(sync, container);
  }
  // Remove logs before the sandboxes: a restarted kubelet finds the Pod by its sandboxes.
  if (const auto& meta = sync.pod().metadata; !meta.name.empty()) {
    COX_RETURN_IF_ERROR(RemoveTree(
        PodLogDirectory(parts_.options.pod_logs_dir, meta.namespace_, meta.name, meta.uid)));
  }
  for (const runtime::SandboxState& sandbox : sync.state.sandboxes) {
    COX_RETURN_IF_ERROR(parts_.runtime.RemoveSandbox(limited, sandbox.id));
  }
  return {};
}

void PodWorker::ReportStatus(SyncState& sync) {
  const Pod& pod = sync.pod();
  PodWorkerState& memory = sync.memory;
  // The API's status of an ended Pod is kept: the runtime may have removed containers by now.
  if (sync.order.gone || memory.final_status_reported) return;
  if (sync.actions.ended && IsTerminal(pod)) return;
  // Containers of an ending Pod are not started, so they have no waiting reason.
  const auto waiting = sync.actions.ending ? decltype(memory.waiting)() : memory.waiting;
  core::v1::PodStatus status = MakePodStatus({.pod = pod,
                                              .state = sync.shown,
                                              .probes = sync.probes,
                                              .now = sync.now,
                                              .host_ips = parts_.options.node_ips,
                                              .runtime_name = parts_.options.container_runtime,
                                              .waiting = waiting,
                                              .end = sync.actions.why_ended,
                                              .ended = sync.actions.ended,
                                              .restart = memory.restart});
  parts_.status.Set(pod, std::move(status));
  if (sync.actions.ended) memory.final_status_reported = true;
}

}  // namespace cox::kubelet
