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

// The desired state of a Pod.
struct PodUpdate {
  std::shared_ptr<const core::v1::Pod> pod;
  bool gone = false;  // not in the API (any more): end and remove it
  std::optional<PodEnd> end;
  uint64_t objects_version = 0;  // increases when an object that its volumes use has changed
};

// The state that a Pod's worker keeps between syncs. It is lost when the kubelet restarts, and is
// rebuilt from the runtime and the API.
struct PodWorkerState {
  Backoff backoff;
  std::map<std::string, WaitingReason, std::less<>> waiting;
  std::map<std::string, uint32_t> reported_backoff;  // the reported restart count, by container
  std::set<std::string> restart;                     // ids to restart regardless of the exit code
  std::optional<uint64_t> volumes_version;           // the objects_version of the last volume setup
  std::shared_ptr<const core::v1::Pod> volumes_pod;
  std::optional<Clock::WallTime> volumes_again;
  std::optional<Clock::WallTime> gone_deadline;
  std::optional<Clock::WallTime> delete_by;  // see PodView
  bool final_status_reported = false;
  bool torn_down = false;
  bool removed = false;
};

struct SyncResult {
  Status status;  // not OK: retry with backoff
  std::optional<Clock::WallTime> again;
  bool forget = false;  // nothing of the Pod is left on the node or in the API
};

// Moves a Pod towards its desired state and reports its status.
//
// Threads: one call at a time for each PodWorkerState; any number for different ones.
class PodWorker {
 public:
  PodWorker(const Context& ctx, const SyncParts& parts);

  SyncResult Sync(Context& ctx, const PodUpdate& order, PodWorkerState& memory);

 private:
  struct SyncState;
  Status Observe(Context& ctx, SyncState& sync);
  // True if something has changed that the next sync will observe.
  bool CarryOut(Context& ctx, SyncState& sync);
  void OrderKills(SyncState& sync);
  bool StopAndRemove(Context& ctx, SyncState& sync);
  bool EnsureVolumes(Context& ctx, SyncState& sync);
  bool MakeSandbox(Context& ctx, SyncState& sync);
  bool StartContainers(Context& ctx, SyncState& sync);
  bool RemoveLeftovers(Context& ctx, SyncState& sync);
  void Finish(Context& ctx, SyncState& sync);
  void Unlink(const SyncState& sync, const runtime::ContainerState& container);
  Status RemoveAll(Context& ctx, SyncState& sync);
  void NoteBackoffs(SyncState& sync);
  void ReportStatus(SyncState& sync);
  Result<std::string> RuntimeHandler(Context& ctx, const core::v1::Pod& pod);
  Result<cri::v1::PodSandboxConfig> SandboxConfig(const core::v1::Pod& pod, uint32_t attempt);

  const SyncParts& parts_;
  ContainerStarter starter_;
};

}  // namespace cox::kubelet
