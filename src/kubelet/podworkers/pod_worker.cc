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

// Looks in a row before others have their turn.
constexpr int kMaxRounds = 8;
constexpr std::chrono::minutes kRuntimeTime{4};
constexpr std::chrono::seconds kVolumesTime{30};

// The API has no upper limit for it; time has.
std::chrono::seconds Grace(int64_t seconds) {
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, 1'000'000'000));
}

// A log, and what was moved away from it: "0.log.20260101-000000.gz".
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

// One look at the Pod, and what comes of it.
struct PodWorker::Look {
  const PodOrder& order;
  PodMemory& memory;
  SyncResult& result;
  PodState state;
  PodState shown;  // as others are told of it
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

SyncResult PodWorker::Sync(Context& ctx, const PodOrder& order, PodMemory& memory) {
  SyncResult result;
  for (int round = 0; round < kMaxRounds; ++round) {
    result = {};
    Look look{.order = order, .memory = memory, .result = result};
    if (const Status status = Observe(ctx, look); !status.ok()) {
      result.status = status;
      return result;
    }
    // First what is, as soon as it is known; starting something may take a while.
    Tell(look);
    const bool changed = CarryOut(ctx, look);
    // Also after an error: the runtime may have done what it could not answer for.
    if (changed || !result.status.ok()) parts_.pleg.Invalidate(order.pod->metadata.uid);
    if (!changed || !result.status.ok()) {
      Tell(look);
      return result;
    }
  }
  // More than anybody needs: something does not settle. Others first.
  result.again = ctx.clock().Now();
  return result;
}

Status PodWorker::Observe(Context& ctx, Look& look) {
  const Clock& clock = ctx.clock();
  Context limited = ctx.WithTimeout(kRuntimeTime);
  look.ended_before = parts_.killer.ended();
  COX_ASSIGN_OR_RETURN(look.state, parts_.pleg.Get(limited, look.uid()));
  const Pod& pod = look.pod();
  // In the host's network the runtime names no address: the node's are the Pod's.
  if (pod.spec.hostNetwork && !look.state.sandboxes.empty()) {
    look.state.sandboxes.front().ips = parts_.options.node_ips;
  }
  AddTerminationMessages(parts_.options, pod, parts_.status.Get(look.uid()).value_or(pod.status),
                         look.state);
  look.now = clock.Now();
  look.end = look.order.end;
  if (look.order.gone) {
    // Nobody says how much time it has: as much as it asked for.
    if (!look.memory.gone_deadline) {
      const int64_t grace = pod.spec.terminationGracePeriodSeconds.value_or(30);
      look.memory.gone_deadline = look.now + Grace(grace);
    }
    look.end = PodEnd{.reason = {}, .message = {}, .deadline = *look.memory.gone_deadline};
  }
  // A container runs for others when its postStart hook has ended: neither probed nor ready before.
  look.shown = look.state;
  const std::set<std::string> in_hook = starter_.Hooks(look.uid());
  for (ContainerState& container : look.shown.containers) {
    const bool runs = container.phase == ContainerState::Phase::kRunning;
    if (runs && in_hook.contains(container.id)) container.phase = ContainerState::Phase::kCreated;
  }
  if (!look.memory.torn_down) parts_.probes.Update(pod, look.shown);
  look.probes = parts_.probes.Results(look.uid());
  const auto& given = pod.metadata.deletionGracePeriodSeconds;
  if (pod.metadata.deletionTimestamp && given) {
    // From when it was first heard of; a later deletion may leave less.
    const Clock::WallTime by = look.now + Grace(*given);
    look.memory.delete_by = std::min(look.memory.delete_by.value_or(by), by);
  }
  look.actions = Decide({pod, look.state, look.probes, look.memory.backoff, look.now, look.end,
                         look.memory.restart, look.memory.delete_by});
  if (look.actions.look_again) look.Again(*look.actions.look_again);
  return {};
}

bool PodWorker::CarryOut(Context& ctx, Look& look) {
  OrderKills(look);
  NoteBackoffs(look);
  const PodActions& actions = look.actions;
  if (actions.ended) {
    Finish(ctx, look);
    return false;
  }
  bool changed = StopAndRemove(ctx, look);
  if (actions.ending || !look.result.status.ok()) return changed;
  parts_.objects.Register(look.pod());
  // Also where nothing is to be started: what volumes are made of may have changed.
  if (!EnsureVolumes(ctx, look)) return changed;
  if (actions.make_sandbox && actions.kill.empty()) return MakeSandbox(ctx, look) || changed;
  changed |= StartContainers(ctx, look);
  if (!changed) changed |= RemoveLeftovers(ctx, look);
  return changed;
}

void PodWorker::OrderKills(Look& look) {
  for (const ContainerToKill& kill : look.actions.kill) {
    if (kill.restart) look.memory.restart.insert(kill.id);
    KillOrder order{.pod = look.order.pod,
                    .container = {},
                    .id = kill.id,
                    .pod_ip = look.pod_ip(),
                    .message = kill.message,
                    .grace = kill.grace,
                    .seen = look.ended_before};
    order.container.name = kill.name;
    ForEachContainer(look.pod(), [&](const Container& container, ContainerKind) {
      if (container.name == kill.name) order.container = container;
    });
    parts_.killer.Kill(std::move(order));
  }
}

bool PodWorker::StopAndRemove(Context& ctx, Look& look) {
  bool changed = false;
  Context limited = ctx.WithTimeout(kRuntimeTime);
  for (const std::string& id : look.actions.stop_sandboxes) {
    const Status status = parts_.runtime.StopSandbox(limited, id);
    if (!status.ok()) {
      parts_.events.Record(look.pod(), EventKind::kWarning, "FailedKillPod", "Killing",
                           "error killing pod: failed to \"KillPodSandbox\" for \"" + look.uid() +
                               "\": " + status.message());
      look.Failed(status);
    }
    changed |= status.ok();
  }
  for (const std::string& id : look.actions.remove) {
    const Status status = parts_.runtime.RemoveContainer(limited, id);
    if (!status.ok()) look.Failed(status);
    changed |= status.ok();
  }
  return changed;
}

bool PodWorker::EnsureVolumes(Context& ctx, Look& look) {
  PodMemory& memory = look.memory;
  const Pod& pod = look.pod();
  const bool due = memory.volumes_again && look.now >= *memory.volumes_again;
  // Labels and annotations may be files.
  const bool same_pod = memory.volumes_pod != nullptr &&
                        (memory.volumes_pod == look.order.pod ||
                         (memory.volumes_pod->metadata.labels == pod.metadata.labels &&
                          memory.volumes_pod->metadata.annotations == pod.metadata.annotations));
  if (memory.volumes_version != look.order.objects_version || due || !same_pod) {
    Context limited = ctx.WithTimeout(kVolumesTime);
    const auto set_up = parts_.volumes.SetUp(limited, pod, starter_.FactsOf(pod, look.state));
    if (!set_up.ok()) {
      parts_.events.Record(pod, EventKind::kWarning, "FailedMount", "Mounting",
                           set_up.status().message());
      look.Failed(set_up.status());
      // Once they were there, what has gone since (a config map) keeps no container from being
      // restarted: it finds the files as they were.
      return memory.volumes_version.has_value();
    }
    memory.volumes_version = look.order.objects_version;
    memory.volumes_pod = look.order.pod;
    memory.volumes_again = set_up->again;
  }
  if (memory.volumes_again) look.Again(*memory.volumes_again);
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

bool PodWorker::MakeSandbox(Context& ctx, Look& look) {
  const Pod& pod = look.pod();
  const auto failed = [&](std::string_view reason, const std::string& text, const Status& status) {
    parts_.events.Record(pod, EventKind::kWarning, reason, "Starting", text + status.message());
    look.Failed(status);
    return false;
  };
  if (const Status status = parts_.cgroups.Ensure(pod); !status.ok()) {
    return failed("FailedCreatePodContainer", "unable to ensure pod container exists: ", status);
  }
  const std::string text = "Failed to create pod sandbox: ";
  const auto config = SandboxConfig(pod, *look.actions.make_sandbox);
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

bool PodWorker::StartContainers(Context& ctx, Look& look) {
  PodMemory& memory = look.memory;
  // What is neither to be started nor waits has no reason any more.
  std::erase_if(memory.waiting, [&](const auto& entry) {
    const auto is_it = [&entry](const auto& other) { return other.name == entry.first; };
    return std::none_of(look.actions.start.begin(), look.actions.start.end(), is_it) &&
           std::none_of(look.actions.waiting.begin(), look.actions.waiting.end(), is_it);
  });
  if (look.actions.start.empty()) return false;
  const auto sandbox = SandboxConfig(look.pod(), look.state.sandboxes.front().attempt);
  if (!sandbox.ok()) {
    look.Failed(sandbox.status());
    return false;
  }
  bool changed = false;
  for (const ContainerToStart& start : look.actions.start) {
    if (starter_.InHook(look.uid())) break;
    std::optional<Container> container;
    ForEachContainer(look.pod(), [&](const Container& spec, ContainerKind) {
      if (spec.name == start.name) container = spec;
    });
    if (!container) continue;
    const StartOutcome outcome =
        starter_.Start(ctx, {look.order.pod, *container, start, look.state, *sandbox});
    switch (outcome.kind) {
      case StartOutcome::Kind::kStarted:
        if (start.failed) memory.backoff.Began(start.name, *start.failed, look.now);
        memory.waiting.erase(start.name);
        changed = true;
        break;
      case StartOutcome::Kind::kPulling:
        // Another try: until it has ended, the reason that was told stands.
        break;
      case StartOutcome::Kind::kFailed:
        memory.waiting[start.name] = outcome.waiting;
        // News of what was made would have it tried again at once, and again.
        if (outcome.made && start.failed) {
          memory.backoff.Began(start.name, *start.failed, look.now);
        }
        parts_.pleg.Invalidate(look.uid());
        if (outcome.again) {
          look.Again(*outcome.again);
        } else {
          look.Failed(Status::Unavailable(outcome.waiting.message));
        }
        break;
    }
  }
  return changed;
}

void PodWorker::NoteBackoffs(Look& look) {
  for (const ContainerInBackoff& waiting : look.actions.waiting) {
    look.memory.waiting[waiting.name] = {"CrashLoopBackOff", waiting.message};
    const ContainerState* newest = look.state.Newest(waiting.name);
    const uint32_t attempt = newest == nullptr ? 0 : newest->attempt;
    const auto told = look.memory.told_backoff.find(waiting.name);
    if (told != look.memory.told_backoff.end() && told->second == attempt) continue;
    look.memory.told_backoff[waiting.name] = attempt;
    parts_.events.Record(look.pod(), EventKind::kWarning, "BackOff", "Restarting",
                         "Back-off restarting failed container " + waiting.name + " in pod " +
                             look.pod().metadata.name + "_" + look.pod().metadata.namespace_ + "(" +
                             look.uid() + ")");
  }
}

bool PodWorker::RemoveLeftovers(Context& ctx, Look& look) {
  const Leftovers leftovers = FindLeftovers(look.state);
  Context limited = ctx.WithTimeout(kRuntimeTime);
  const auto& meta = look.pod().metadata;
  const std::string logs =
      PodLogDirectory(parts_.options.pod_logs_dir, meta.namespace_, meta.name, meta.uid);
  bool changed = false;
  for (const ContainerState& container : leftovers.containers) {
    const Status status = parts_.runtime.RemoveContainer(limited, container.id);
    if (!status.ok()) {
      look.Failed(status);
      continue;
    }
    RemoveLogs(logs + "/" + ContainerLogName(container.name, container.attempt));
    (void)RemoveTree(
        TerminationLogPath(parts_.options, meta.uid, container.name, container.attempt));
    Unlink(look, container);
    look.memory.restart.erase(container.id);
    changed = true;
  }
  for (const std::string& id : leftovers.sandboxes) {
    const Status status = parts_.runtime.RemoveSandbox(limited, id);
    if (!status.ok()) look.Failed(status);
    changed |= status.ok();
  }
  return changed;
}

// The second name of a log goes with the container.
void PodWorker::Unlink(const Look& look, const ContainerState& container) {
  const auto& meta = look.pod().metadata;
  const std::string link = ContainerLogLink(parts_.options.pod_logs_dir, meta.namespace_, meta.name,
                                            container.name, container.id);
  if (!link.empty()) (void)RemoveTree(link);
}

// Nothing of the Pod runs any more, nor ever will.
void PodWorker::Finish(Context& ctx, Look& look) {
  PodMemory& memory = look.memory;
  const std::string& uid = look.uid();
  if (!memory.torn_down) {
    parts_.probes.Remove(uid);
    parts_.images.Forget(uid);
    parts_.objects.Unregister(uid);
    if (const Status status = parts_.volumes.TearDown(uid); !status.ok()) {
      parts_.events.Record(look.pod(), EventKind::kWarning, "FailedUnmount", "Killing",
                           status.message());
      return look.Failed(status);
    }
    if (const Status status = parts_.cgroups.Remove(look.pod()); !status.ok()) {
      return look.Failed(status);
    }
    memory.torn_down = true;
  }
  const bool deleted = look.pod().metadata.deletionTimestamp.has_value();
  if (!deleted && !look.order.gone) return;
  if (!memory.removed) {
    if (const Status status = RemoveAll(ctx, look); !status.ok()) return look.Failed(status);
    memory.removed = true;
  }
  if (look.order.gone) {
    parts_.status.Forget(uid);
    look.result.forget = true;
  } else {
    parts_.status.SetFinished(look.pod());
  }
}

Status PodWorker::RemoveAll(Context& ctx, Look& look) {
  Context limited = ctx.WithTimeout(kRuntimeTime);
  for (const ContainerState& container : look.state.containers) {
    COX_RETURN_IF_ERROR(parts_.runtime.RemoveContainer(limited, container.id));
    Unlink(look, container);
  }
  // Before the sandboxes: by those an agent that was killed in between finds the Pod again.
  if (const auto& meta = look.pod().metadata; !meta.name.empty()) {
    COX_RETURN_IF_ERROR(RemoveTree(
        PodLogDirectory(parts_.options.pod_logs_dir, meta.namespace_, meta.name, meta.uid)));
  }
  for (const runtime::SandboxState& sandbox : look.state.sandboxes) {
    COX_RETURN_IF_ERROR(parts_.runtime.RemoveSandbox(limited, sandbox.id));
  }
  return {};
}

void PodWorker::Tell(Look& look) {
  const Pod& pod = look.pod();
  PodMemory& memory = look.memory;
  // What the API has of a Pod that is over stays: the runtime forgets more than the API.
  if (look.order.gone || memory.final_told) return;
  if (look.actions.ended && IsTerminal(pod)) return;
  // What ends is not going to be started: it waits for nothing.
  const auto waiting = look.actions.ending ? decltype(memory.waiting)() : memory.waiting;
  core::v1::PodStatus status = MakePodStatus({.pod = pod,
                                              .state = look.shown,
                                              .probes = look.probes,
                                              .now = look.now,
                                              .host_ips = parts_.options.node_ips,
                                              .runtime_name = parts_.options.container_runtime,
                                              .waiting = waiting,
                                              .end = look.actions.why_ended,
                                              .ended = look.actions.ended,
                                              .restart = memory.restart});
  parts_.status.Set(pod, std::move(status));
  if (look.actions.ended) memory.final_told = true;
}

}  // namespace cox::kubelet
