// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "kubelet/actions/decide.h"
#include "kubelet/podworkers/container_starter.h"
#include "kubelet/podworkers/parts.h"

namespace cox::kubelet {

// What is wanted of a Pod now.
struct PodOrder {
  std::shared_ptr<const core::v1::Pod> pod;
  bool gone = false;  // the API has it no more, or never had: end it and forget it
  std::optional<PodEnd> end;
  uint64_t objects_version = 0;  // rises when something changed that its volumes are made of
};

// What a Pod's worker remembers from one look to the next. Nothing that could not be found out
// again: an agent that was restarted begins without it.
struct PodMemory {
  Backoff backoff;
  std::map<std::string, WaitingReason, std::less<>> waiting;
  std::map<std::string, uint32_t> told_backoff;  // for which restart count, by container
  std::set<std::string> restart;                 // ids that are started again whatever they say
  std::optional<uint64_t> volumes_version;       // set up for that
  std::shared_ptr<const core::v1::Pod> volumes_pod;
  std::optional<Clock::WallTime> volumes_again;
  std::optional<Clock::WallTime> gone_deadline;
  std::optional<Clock::WallTime> delete_by;  // see PodView
  bool final_told = false;
  bool torn_down = false;
  bool removed = false;
};

struct SyncResult {
  Status status;  // not OK: try again with a growing wait
  std::optional<Clock::WallTime> again;
  bool forget = false;  // nothing of the Pod is left, here or in the API
};

// Brings one Pod nearer to what is wanted, and tells how it is.
//
// Threads: one call at a time for each PodMemory; any number for different ones.
class PodWorker {
 public:
  PodWorker(const Context& ctx, const SyncParts& parts);

  SyncResult Sync(Context& ctx, const PodOrder& order, PodMemory& memory);

 private:
  struct Look;
  Status Observe(Context& ctx, Look& look);
  // True if something was changed that the next look will see.
  bool CarryOut(Context& ctx, Look& look);
  void OrderKills(Look& look);
  bool StopAndRemove(Context& ctx, Look& look);
  bool EnsureVolumes(Context& ctx, Look& look);
  bool MakeSandbox(Context& ctx, Look& look);
  bool StartContainers(Context& ctx, Look& look);
  bool RemoveLeftovers(Context& ctx, Look& look);
  void Finish(Context& ctx, Look& look);
  void Unlink(const Look& look, const runtime::ContainerState& container);
  Status RemoveAll(Context& ctx, Look& look);
  void NoteBackoffs(Look& look);
  void Tell(Look& look);
  Result<std::string> RuntimeHandler(Context& ctx, const core::v1::Pod& pod);
  Result<cri::v1::PodSandboxConfig> SandboxConfig(const core::v1::Pod& pod, uint32_t attempt);

  const SyncParts& parts_;
  ContainerStarter starter_;
};

}  // namespace cox::kubelet
