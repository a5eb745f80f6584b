// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pleg/pleg.h"

#include <set>

#include "base/scope.h"
#include "base/strings.h"

namespace cox::kubelet {

using runtime::ContainerState;
using runtime::PodState;
using runtime::SandboxState;

namespace {

constexpr std::chrono::seconds kRelistPeriod{60};
constexpr std::chrono::seconds kRelistPeriodWithoutEvents{1};
constexpr std::chrono::minutes kUnhealthyAfter{3};
constexpr std::chrono::seconds kReopenAfter{1};
constexpr std::chrono::minutes kListTimeout{2};

// A Pod's state in a list, for the detection of changes.
std::string Digest(const PodState& pod) {
  std::string out;
  for (const SandboxState& sandbox : pod.sandboxes) {
    out += sandbox.id + (sandbox.ready ? "+" : "-");
  }
  for (const ContainerState& container : pod.containers) {
    out += container.id + std::to_string(static_cast<int>(container.phase));
  }
  return out;
}

}  // namespace

Pleg::Pleg(Clock& clock, Parts parts) : clock_(clock), parts_(std::move(parts)) {
  if (parts_.metrics == nullptr) return;
  relist_duration_ =
      &parts_.metrics->AddHistogram({.name = "kubelet_pleg_relist_duration_seconds",
                                     .help = "Duration in seconds for relisting pods in PLEG."},
                                    {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10});
  last_seen_ = parts_.metrics->AddGaugeCallback(
      {.name = "kubelet_pleg_last_seen_seconds",
       .help = "Timestamp in seconds when PLEG was last seen active."},
      {}, [this](const EmitSample& emit) {
        const auto now = clock_.Now().time_since_epoch();
        MutexLock lock(mu_);
        if (!ever_listed_) return;
        const auto age = clock_.Monotonic() - listed_;
        emit({}, std::chrono::duration<double>(now - age).count());
      });
}

void Pleg::Run(Context& ctx) {
  Scope scope(ctx, "pleg");
  const Status started = scope.Go("pleg-events", [this](Context& follow) { Follow(follow); });
  if (!started.ok()) COX_ERROR(ctx.log(), started, "Could not start watching runtime events");
  while (!ctx.Done()) {
    bool has_events = true;
    {
      MutexLock lock(mu_);
      has_events = has_events_;
    }
    if (!ctx.Sleep(has_events ? kRelistPeriod : kRelistPeriodWithoutEvents).ok()) break;
    if (const Status status = Relist(ctx); !status.ok() && !ctx.Done()) {
      COX_ERROR(ctx.log(), status, "Could not relist Pods");
    }
  }
  scope.Stop();
  scope.Wait();
}

void Pleg::Follow(Context& ctx) {
  while (!ctx.Done()) {
    Result<std::unique_ptr<runtime::EventStream>> stream = parts_.runtime.Events(ctx);
    {
      MutexLock lock(mu_);
      has_events_ = !stream.status().Is(Reason::kMethodNotAllowed);
    }
    // Relist after the stream is open, so that no change between the two is missed.
    const Status listed = Relist(ctx);
    if (!stream.ok() || !listed.ok()) {
      if (ctx.Done()) return;
      COX_ERROR(ctx.log(), stream.ok() ? listed : stream.status(), "Runtime is unreachable");
      if (!ctx.Sleep(kReopenAfter).ok()) return;
      continue;
    }
    bool any = false;
    while (true) {
      const Result<runtime::ContainerEvent> event = (*stream)->Next(ctx);
      if (!event.ok()) break;
      any = true;
      if (event->pod_uid.empty()) continue;
      Invalidate(event->pod_uid);
      parts_.woken(event->pod_uid);
    }
    // Limit the rate of reopening and relisting if the stream fails immediately after it opens.
    if (!any && !ctx.Sleep(kReopenAfter).ok()) return;
  }
}

Status Pleg::Relist(const Context& ctx) {
  const Clock::SteadyTime began = clock_.Monotonic();
  Result<std::vector<PodState>> pods = parts_.runtime.ListPods(ctx.WithTimeout(kListTimeout));
  if (!pods.ok()) return pods.status();
  std::vector<std::string> changed;
  {
    MutexLock lock(mu_);
    std::set<std::string> here;
    for (const PodState& pod : *pods) {
      here.insert(pod.uid);
      Entry& entry = pods_[pod.uid];
      std::string digest = Digest(pod);
      if (digest == entry.digest) continue;
      entry.digest = std::move(digest);
      entry.requested = ++requested_;
      changed.push_back(pod.uid);
    }
    // Drop entries of Pods that are no longer in the runtime; Get reads them again if needed. This
    // also removes entries that late events created after Forget.
    for (auto at = pods_.begin(); at != pods_.end();) {
      if (here.contains(at->first)) {
        ++at;
        continue;
      }
      const PodState& last = at->second.state;
      if (!at->second.digest.empty() || !last.sandboxes.empty() || !last.containers.empty()) {
        changed.push_back(at->first);
      }
      at = pods_.erase(at);
    }
    listed_ = clock_.Monotonic();
    ever_listed_ = true;
  }
  if (relist_duration_ != nullptr) {
    relist_duration_->Observe(std::chrono::duration<double>(clock_.Monotonic() - began).count());
  }
  parts_.listed(*pods);
  for (const std::string& uid : changed) parts_.woken(uid);
  return {};
}

Result<PodState> Pleg::Get(const Context& ctx, const std::string& uid) {
  uint64_t requested = 0;
  {
    MutexLock lock(mu_);
    Entry& entry = pods_[uid];
    if (entry.requested == 0) entry.requested = ++requested_;
    if (entry.known == entry.requested) return entry.state;
    requested = entry.requested;
  }
  COX_ASSIGN_OR_RETURN(PodState state, parts_.runtime.GetPod(ctx, uid));
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found != pods_.end() && found->second.known < requested) {
    found->second.known = requested;
    found->second.state = state;
  }
  return state;
}

void Pleg::Invalidate(const std::string& uid) {
  MutexLock lock(mu_);
  pods_[uid].requested = ++requested_;
}

void Pleg::Forget(const std::string& uid) {
  MutexLock lock(mu_);
  pods_.erase(uid);
}

Status Pleg::Healthy() const {
  MutexLock lock(mu_);
  if (!ever_listed_)
    return Status::Unavailable("PLEG is not healthy: pleg has yet to be successful");
  const Clock::Duration age = clock_.Monotonic() - listed_;
  if (age <= kUnhealthyAfter) return {};
  return Status::Unavailable(
      "PLEG is not healthy: pleg was last seen active " +
      FormatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(age)) +
      " ago; threshold is 3m0s");
}

}  // namespace cox::kubelet
