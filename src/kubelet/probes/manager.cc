// SPDX-License-Identifier: Apache-2.0
#include "kubelet/probes/manager.h"

#include <algorithm>
#include <set>
#include <vector>

#include "kubelet/pod/containers.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;
using core::v1::Probe;
using runtime::ContainerState;

// One probe of one container instance. Members before `state` are constant.
struct ProbeManager::Entry {
  Key key;
  std::string pod_name;
  std::string pod_ns;
  ProbeTarget target;
  Clock::Duration period;
  bool has_startup = false;
  // Guarded by the manager's lock.
  ProbeState state;
  std::string message;
  bool removed = false;
  bool running = false;
  bool queued = false;
  Clock::SteadyTime began;  // of the newest execution
  uint64_t successes = 0;
  uint64_t failures = 0;
  uint64_t errors = 0;
};

namespace {

constexpr int kAttempts = 3;  // of a probe that returns an error

Clock::Duration Period(const Probe& probe) {
  return std::chrono::seconds(probe.periodSeconds > 0 ? probe.periodSeconds : 10);
}

// The API's status if it is of this container instance, else null.
const core::v1::ContainerStatus* StatusOf(const Pod& pod, const ContainerState& state) {
  const core::v1::ContainerStatus* status = FindStatus(pod, state.name);
  return status != nullptr && status->containerID.ends_with("://" + state.id) ? status : nullptr;
}

}  // namespace

ProbeManager::ProbeManager(const Context& ctx, Options options)
    : options_(std::move(options)),
      ctx_(ctx.Child()),
      clock_(ctx.clock()),
      random_(options_.seed != 0 ? options_.seed : std::random_device{}()),
      scope_(ctx_, "probes") {
  if (options_.metrics != nullptr) {
    // A callback, so that the series of a Pod end with the Pod.
    metric_ = options_.metrics->AddCounterCallback(
        {.name = "prober_probe_total",
         .help = "Cumulative number of a liveness, readiness or startup probe for a container by "
                 "result.",
         .stability = Stability::kBeta},
        {"probe_type", "result", "container", "pod", "namespace", "pod_uid"},
        [this](const EmitSample& emit) {
          MutexLock lock(mu_);
          for (const auto& [key, entry] : probes_) {
            const auto sample = [&](const char* result, uint64_t count) {
              if (count == 0) return;
              emit({ProbeTypeName(key.type), result, entry->target.container.name, entry->pod_name,
                    entry->pod_ns, key.uid},
                   static_cast<double>(count));
            };
            sample("successful", entry->successes);
            sample("failed", entry->failures);
            sample("unknown", entry->errors);
          }
        });
  }
  const Status started = scope_.Go("probes", [this](Context& run) { Loop(run); });
  if (!started.ok()) COX_ERROR(ctx.log(), started, "Could not start probing");
}

ProbeManager::~ProbeManager() {
  metric_ = MetricHandle();
  scope_.Stop();
  scope_.Wait();
  ctx_.Stop();  // cancels running probes
  pending_.Wait();
}

void ProbeManager::Update(const Pod& pod, const runtime::PodState& state) {
  const bool ending = pod.metadata.deletionTimestamp.has_value();
  const std::string pod_ip = !state.sandboxes.empty() && !state.sandboxes.front().ips.empty()
                                 ? state.sandboxes.front().ips.front()
                                 : pod.status.podIP;
  std::set<std::string> alive;
  MutexLock lock(mu_);
  ForEachContainer(
      pod, [&](const Container& container, ContainerKind kind) COX_NO_THREAD_SAFETY_ANALYSIS {
        if (kind == ContainerKind::kInit || kind == ContainerKind::kEphemeral) return;
        const ContainerState* newest = state.Newest(container.name);
        if (newest == nullptr || newest->phase != ContainerState::Phase::kRunning) return;
        alive.insert(newest->id);
        AddContainer(pod, container, *newest, pod_ip);
      });
  for (auto at = probes_.lower_bound({pod.metadata.uid, "", ProbeType::kStartup});
       at != probes_.end() && at->first.uid == pod.metadata.uid;) {
    // Results of a Pod that is being deleted are kept, so that its readiness does not change.
    const bool lives = alive.contains(at->first.container_id);
    const bool asked = lives && (!ending || at->first.type == ProbeType::kReadiness);
    if (!asked) at->second->removed = true;
    at = lives ? std::next(at) : probes_.erase(at);
  }
  changed_.NotifyAll();
}

void ProbeManager::AddContainer(const Pod& pod, const Container& container,
                                const ContainerState& state, const std::string& pod_ip) {
  const core::v1::ContainerStatus* before = StatusOf(pod, state);
  const Clock::Duration age = std::max<Clock::Duration>(clock_.Now() - state.started, {});
  const std::pair<ProbeType, const Probe*> kinds[] = {
      {ProbeType::kStartup, container.startupProbe.get()},
      {ProbeType::kLiveness, container.livenessProbe.get()},
      {ProbeType::kReadiness, container.readinessProbe.get()}};
  for (const auto& [type, probe] : kinds) {
    if (probe == nullptr) continue;
    const Key key{pod.metadata.uid, state.id, type};
    if (probes_.contains(key)) continue;
    const bool came_up =
        type == ProbeType::kStartup && before != nullptr && before->started.value_or(false);
    if (pod.metadata.deletionTimestamp && type != ProbeType::kReadiness && !came_up) continue;
    auto entry = std::make_shared<Entry>(
        Entry{.key = key,
              .pod_name = pod.metadata.name,
              .pod_ns = pod.metadata.namespace_,
              .target = {.container_id = state.id,
                         .pod_ip = pod_ip,
                         .container = container,
                         .handler = probe->handler,
                         .timeout = std::chrono::seconds(std::max(probe->timeoutSeconds, 1))},
              .period = Period(*probe),
              .has_startup = container.startupProbe.has_value(),
              .state = ProbeState(type, *probe),
              .message = {}});
    // A restarted kubelet restores the results of the previous one.
    const bool was_ready = type == ProbeType::kReadiness && before != nullptr && before->ready;
    if (came_up || was_ready) entry->state.Restore(ProbeOutcome::kSuccess);
    probes_[key] = entry;
    const Clock::Duration delay =
        std::max<Clock::Duration>(std::chrono::seconds(probe->initialDelaySeconds) - age, {});
    // New containers are probed immediately. Containers that already run, as after a kubelet
    // restart, are spread over their period.
    Clock::Duration jitter{};
    if (delay == Clock::Duration() && age > entry->period) {
      jitter = Clock::Duration(
          std::uniform_int_distribution<int64_t>(0, entry->period.count())(random_));
    }
    Schedule(entry, clock_.In(delay + jitter));
  }
}

void ProbeManager::Schedule(const EntryPtr& entry, Clock::SteadyTime due) {
  if (entry->removed || entry->queued || entry->running || entry->state.done()) return;
  entry->queued = true;
  queue_.emplace(due, entry);
}

void ProbeManager::Remove(const std::string& uid) {
  MutexLock lock(mu_);
  for (auto at = probes_.lower_bound({uid, "", ProbeType::kStartup});
       at != probes_.end() && at->first.uid == uid; at = probes_.erase(at)) {
    at->second->removed = true;
  }
}

// Liveness and readiness probes do not run before the startup probe has succeeded.
bool ProbeManager::MayRun(const Entry& entry) const {
  if (!entry.has_startup || entry.key.type == ProbeType::kStartup) return true;
  const auto startup = probes_.find({entry.key.uid, entry.key.container_id, ProbeType::kStartup});
  return startup == probes_.end() || startup->second->state.outcome() == ProbeOutcome::kSuccess;
}

void ProbeManager::Loop(Context& ctx) {
  MutexLock lock(mu_);
  while (!ctx.Done()) {
    const Clock::SteadyTime due = queue_.empty() ? Clock::kNever : queue_.begin()->first;
    if (due > clock_.Monotonic()) {
      changed_.WaitUntil(mu_, clock_, due, ctx.token());
      continue;
    }
    const EntryPtr entry = queue_.begin()->second;
    queue_.erase(queue_.begin());
    entry->queued = false;
    if (entry->removed || entry->state.done()) continue;
    if (!MayRun(*entry)) {
      Schedule(entry, clock_.In(entry->period));
      continue;
    }
    entry->running = true;
    entry->began = clock_.Monotonic();
    lock.Unlock();
    Start(entry, 1, pending_.Begin());
    lock.Lock();
  }
}

void ProbeManager::Start(const EntryPtr& entry, int attempt, PendingWork::Token pending) {
  options_.run(ctx_, entry->target,
               [this, entry, attempt, pending = std::move(pending)](const ProbeReply& reply) {
                 const bool again = reply.kind == ProbeReply::Kind::kError && attempt < kAttempts;
                 if (again && !ctx_.Done()) return Start(entry, attempt + 1, pending);
                 Finish(entry, reply);
               });
}

void ProbeManager::Finish(const EntryPtr& entry, const ProbeReply& reply) {
  bool news = false;
  const bool failure = reply.kind == ProbeReply::Kind::kFailure;
  {
    MutexLock lock(mu_);
    entry->running = false;
    if (entry->removed || ctx_.Done()) return;
    switch (reply.kind) {
      case ProbeReply::Kind::kSuccess:
        ++entry->successes;
        break;
      case ProbeReply::Kind::kFailure:
        ++entry->failures;
        entry->message = reply.message;
        break;
      case ProbeReply::Kind::kError:
        ++entry->errors;
        break;
    }
    if (reply.kind != ProbeReply::Kind::kError) news = entry->state.Observe(!failure).has_value();
    // The period is between the begins, however long the probe takes.
    Schedule(entry, std::max(entry->began + entry->period, clock_.Monotonic()));
    if (news && entry->key.type == ProbeType::kStartup && !failure) {
      // Startup succeeded: run the other probes immediately.
      for (const ProbeType type : {ProbeType::kLiveness, ProbeType::kReadiness}) {
        const auto other = probes_.find({entry->key.uid, entry->key.container_id, type});
        if (other == probes_.end() || !other->second->queued) continue;
        std::erase_if(queue_, [&](const auto& item) { return item.second == other->second; });
        other->second->queued = false;
        Schedule(other->second, clock_.Monotonic());
      }
    }
    changed_.NotifyAll();
  }
  if (reply.kind != ProbeReply::Kind::kSuccess && options_.failed) {
    options_.failed(
        {entry->key.uid, entry->target.container.name, entry->key.type, reply.message, !failure});
  }
  if (news && options_.changed) options_.changed(entry->key.uid);
}

PodProbeResults ProbeManager::Results(const std::string& uid) const {
  PodProbeResults results;
  MutexLock lock(mu_);
  for (auto at = probes_.lower_bound({uid, "", ProbeType::kStartup});
       at != probes_.end() && at->first.uid == uid; ++at) {
    ContainerProbeResults& of = results.by_id[at->first.container_id];
    const ProbeOutcome outcome = at->second->state.outcome();
    switch (at->first.type) {
      case ProbeType::kStartup:
        of.startup = outcome;
        break;
      case ProbeType::kLiveness:
        of.liveness = outcome;
        break;
      case ProbeType::kReadiness:
        of.readiness = outcome;
        break;
    }
    if (outcome == ProbeOutcome::kFailure) of.message = at->second->message;
  }
  return results;
}

size_t ProbeManager::size() const {
  MutexLock lock(mu_);
  return probes_.size();
}

}  // namespace cox::kubelet
