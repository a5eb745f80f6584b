// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/killer.h"

#include <algorithm>

#include "kubelet/containers/hooks.h"

namespace cox::kubelet {

namespace {

constexpr std::string_view kAction = "Killing";
// A container whose hook used the whole grace period still gets this time before it is killed.
constexpr std::chrono::seconds kLeast{2};
// Additional time for the runtime's response, beyond the container's grace period.
constexpr std::chrono::minutes kRuntimeTime{2};
// Far more containers than can end while a worker syncs one Pod.
constexpr uint64_t kRemembered = 1000;

}  // namespace

ContainerKiller::ContainerKiller(const Context& ctx, Parts parts)
    : parts_(std::move(parts)),
      ctx_(ctx),
      pool_(ctx, {.name = "kill", .max_threads = parts_.max_threads}) {}

void ContainerKiller::Kill(KillOrder order) {
  const Clock::SteadyTime deadline = ctx_.clock().In(order.grace);
  Context ctx = ctx_.Child();
  bool first = true;
  {
    MutexLock lock(mu_);
    const auto ended = ended_at_.find(order.id);
    if (ended != ended_at_.end() && order.seen < ended->second) return;
    const auto found = running_.find(order.id);
    if (found != running_.end()) {
      // The same kill again, computed from a later `now`.
      if (deadline + std::chrono::seconds(1) >= found->second.deadline) return;
      first = false;
      found->second.ctx.Stop();
      running_.erase(found);
    }
    running_.emplace(order.id, Running{deadline, ctx});
  }
  if (first && !order.message.empty()) {
    parts_.events.Record(*order.pod, EventKind::kNormal, "Killing", kAction, order.message);
  }
  const std::string id = order.id;
  if (!pool_.Submit([this, ctx, order = std::move(order), deadline, first]() mutable {
        Run(ctx, order, deadline, first);
      })) {
    MutexLock lock(mu_);
    running_.erase(id);
  }
}

void ContainerKiller::Run(Context& ctx, const KillOrder& order, Clock::SteadyTime deadline,
                          bool with_hook) {
  const Clock& clock = ctx.clock();
  const auto& lifecycle = order.container.lifecycle;
  const bool hook = with_hook && lifecycle && lifecycle->preStop && order.grace > Clock::Duration();
  if (hook) {
    Context limited = ctx.WithDeadline(deadline);
    const Status status = RunHook(limited, *lifecycle->preStop,
                                  {order.id, order.pod_ip, order.container}, parts_.runtime);
    if (!status.ok() && !ctx.Done()) {
      COX_V(ctx.log(), 4, "PreStop hook failed", {"container", order.id},
            {"why", status.message()});
      // The event does not contain the error: hook output may be secret, and events have more
      // readers.
      parts_.events.Record(*order.pod, EventKind::kWarning, "FailedPreStopHook", kAction,
                           "PreStopHook failed");
    }
  }
  Clock::Duration left = deadline - clock.Monotonic();
  left = std::max<Clock::Duration>(left, hook ? Clock::Duration(kLeast) : Clock::Duration());
  Context limited = ctx.WithTimeout(left + kRuntimeTime);
  const Status stopped = parts_.runtime.StopContainer(
      limited, order.id, std::chrono::ceil<std::chrono::seconds>(left));
  // A later Kill with a shorter grace period has replaced this one.
  if (ctx.Done()) return;
  if (!stopped.ok()) {
    COX_ERROR(ctx.log(), stopped, "Could not stop container", {"container", order.id});
    parts_.events.Record(*order.pod, EventKind::kWarning, "FailedKillPod", kAction,
                         "error killing pod: failed to \"KillContainer\" for \"" +
                             order.container.name + "\": " + stopped.message());
    // The caller retries immediately; limit the rate.
    if (!ctx.Sleep(std::chrono::seconds(1)).ok()) return;
    Forget(order.id, deadline, false);
    parts_.changed(order.pod->metadata.uid);
    return;
  }
  // Call `changed` before recording the end, so that syncs that begin after the record read the
  // ended state.
  parts_.changed(order.pod->metadata.uid);
  Forget(order.id, deadline, true);
}

void ContainerKiller::Forget(const std::string& id, Clock::SteadyTime deadline, bool has_ended) {
  MutexLock lock(mu_);
  const auto found = running_.find(id);
  if (found != running_.end() && found->second.deadline == deadline) running_.erase(found);
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
