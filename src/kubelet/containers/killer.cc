// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/killer.h"

#include <algorithm>

#include "kubelet/containers/hooks.h"

namespace cox::kubelet {

namespace {

constexpr std::string_view kAction = "Killing";
// A container whose hook or wait used the whole grace period still gets this time before it is
// killed.
constexpr std::chrono::seconds kLeast{2};
// Additional time for the runtime's response, beyond the container's grace period.
constexpr std::chrono::minutes kRuntimeTime{2};
// Far more containers than can end while a worker syncs one Pod.
constexpr uint64_t kRemembered = 1000;
// Each starts one kill at a time, and waits only while the runtime is not reachable.
constexpr size_t kThreads = 4;

}  // namespace

ContainerKiller::ContainerKiller(const Context& ctx, Parts parts)
    : parts_(std::move(parts)),
      ctx_(ctx.Child()),
      pool_(ctx_, {.name = "kill", .max_threads = kThreads}) {}

ContainerKiller::~ContainerKiller() {
  ctx_.Stop();
  pool_.Stop();
  pending_.Wait();
}

void ContainerKiller::Kill(KillOrder order) {
  const Clock::SteadyTime deadline = ctx_.clock().In(order.grace);
  Context ctx = ctx_.Child();
  Context turn = ctx.Child();
  bool waits = order.wait_for_turn && order.grace > Clock::Duration();
  bool first = true;
  bool same = false;
  {
    MutexLock lock(mu_);
    const auto ended = ended_at_.find(order.id);
    if (ended != ended_at_.end() && order.seen < ended->second) return;
    const auto found = running_.find(order.id);
    if (found != running_.end()) {
      // The same kill again, computed from a later `now`.
      same = deadline + std::chrono::seconds(1) >= found->second.deadline;
      first = false;
      if (same) {
        turn = found->second.turn;
      } else {
        waits = waits && !found->second.turn.Done();
        found->second.ctx.Stop();
        running_.erase(found);
      }
    }
    if (!same) running_.emplace(order.id, Running{deadline, ctx, turn});
  }
  // Without the lock, because a kill that waits continues inside of this call.
  if (!waits) turn.Stop();
  if (same) return;
  if (first && !order.message.empty()) {
    parts_.events.Record(*order.pod, EventKind::kNormal, "Killing", kAction, order.message);
  }
  const auto& lifecycle = order.container.lifecycle;
  const bool hook = first && lifecycle && lifecycle->preStop && order.grace > Clock::Duration();
  const auto job = std::make_shared<const Job>(Job{std::move(order), deadline, std::move(ctx),
                                                   std::move(turn), hook, waits, pending_.Begin()});
  if (hook) return Submit(job, &ContainerKiller::RunPreStop);
  AwaitTurn(job);
}

void ContainerKiller::Submit(const JobPtr& job, void (ContainerKiller::*step)(const JobPtr& job)) {
  if (!pool_.Submit([this, job, step] { (this->*step)(job); })) Forget(*job, false);
}

void ContainerKiller::RunPreStop(const JobPtr& job) {
  const KillOrder& order = job->order;
  RunHook(job->ctx.WithDeadline(job->deadline), *order.container.lifecycle->preStop,
          {order.id, order.pod_ip, order.container}, {parts_.runtime, parts_.prober},
          [this, job](const Status& status) {
            if (!status.ok() && !job->ctx.Done()) {
              COX_V(job->ctx.log(), 4, "PreStop hook failed", {"container", job->order.id},
                    {"why", status.message()});
              // The event does not contain the error: hook output may be secret, and events have
              // more readers.
              parts_.events.Record(*job->order.pod, EventKind::kWarning, "FailedPreStopHook",
                                   kAction, "PreStopHook failed");
            }
            AwaitTurn(job);
          });
}

void ContainerKiller::AwaitTurn(const JobPtr& job) {
  CallAfter(job->turn, job->deadline - job->ctx.clock().Monotonic(), [this, job](const Status&) {
    // A later Kill may have replaced this one.
    if (!job->ctx.Done()) Submit(job, &ContainerKiller::Stop);
  });
}

void ContainerKiller::Stop(const JobPtr& job) {
  Clock::Duration left = job->deadline - job->ctx.clock().Monotonic();
  const bool used = job->hook || job->waited;
  left = std::max<Clock::Duration>(left, used ? Clock::Duration(kLeast) : Clock::Duration());
  parts_.runtime.StopContainerAsync(
      job->ctx.WithTimeout(left + kRuntimeTime), job->order.id,
      std::chrono::ceil<std::chrono::seconds>(left),
      [this, job](const Status& stopped) { OnStopped(job, stopped); });
}

void ContainerKiller::OnStopped(const JobPtr& job, const Status& stopped) {
  // A later Kill with a shorter grace period has replaced this one.
  if (job->ctx.Done()) return;
  const KillOrder& order = job->order;
  if (!stopped.ok()) {
    COX_ERROR(job->ctx.log(), stopped, "Could not stop container", {"container", order.id});
    parts_.events.Record(*order.pod, EventKind::kWarning, "FailedKillPod", kAction,
                         "error killing pod: failed to \"KillContainer\" for \"" +
                             order.container.name + "\": " + stopped.message());
    // The caller retries immediately; limit the rate.
    CallAfter(job->ctx, std::chrono::seconds(1), [this, job](const Status& waited) {
      if (!waited.ok()) return;
      Forget(*job, false);
      parts_.changed(job->order.pod->metadata.uid);
    });
    return;
  }
  // Call `changed` before recording the end, so that syncs that begin after the record read the
  // ended state.
  parts_.changed(order.pod->metadata.uid);
  Forget(*job, true);
}

void ContainerKiller::Forget(const Job& job, bool has_ended) {
  const std::string& id = job.order.id;
  MutexLock lock(mu_);
  const auto found = running_.find(id);
  if (found != running_.end() && found->second.deadline == job.deadline) running_.erase(found);
  if (!has_ended) return;
  ended_at_[id] = ++ended_;
  std::erase_if(ended_at_, [this](const auto& entry) {
    mu_.AssertHeld();
    return entry.second + kRemembered < ended_;
  });
}

uint64_t ContainerKiller::ended() const {
  MutexLock lock(mu_);
  return ended_;
}

}  // namespace cox::kubelet
