// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "kubelet/actions/decide.h"
#include "kubelet/podworkers/parts.h"
#include "kubelet/status/pod_status.h"

namespace cox::kubelet {

struct StartRequest {
  std::shared_ptr<const core::v1::Pod> pod;
  const core::v1::Container& container;
  ContainerToStart start;
  const runtime::PodState& state;  // has a ready sandbox
  const cri::v1::PodSandboxConfig& sandbox;
};

struct StartOutcome {
  enum class Kind : uint8_t { kStarted, kPulling, kFailed };
  Kind kind = Kind::kStarted;
  WaitingReason waiting;                 // kFailed
  std::optional<Clock::WallTime> again;  // kFailed: when to retry; none: soon
  bool made = false;                     // kFailed: created in the runtime, but not started
};

// Starts one container: image, environment, files, CRI calls, postStart hook.
//
// Threads: all methods may be called concurrently; for one Pod its worker calls one at a time.
class ContainerStarter {
 public:
  ContainerStarter(const Context& ctx, const SyncParts& parts);
  ~ContainerStarter();

  // Returns when the container runs, or why it does not. The postStart hook runs asynchronously.
  StartOutcome Start(Context& ctx, const StartRequest& request);
  // While a postStart hook of the Pod runs, no other container of it is started.
  bool InHook(const std::string& uid) const { return !Hooks(uid).empty(); }
  // Ids of the Pod's containers whose postStart hook is running.
  std::set<std::string> Hooks(const std::string& uid) const;

  PodFacts PodFactsOf(const core::v1::Pod& pod, const runtime::PodState& state) const;

 private:
  Result<cri::v1::ContainerConfig> Configure(Context& ctx, const StartRequest& request,
                                             const PullResult& image);
  Status PrepareFiles(const StartRequest& request, const std::vector<std::string>& pod_ips,
                      std::string& etc_hosts, std::string& termination_log);
  void LinkLog(const StartRequest& request, const cri::v1::ContainerConfig& config,
               const std::string& id);
  void BeginHook(const StartRequest& request, const std::string& id);
  // The function that is called when a postStart hook has ended.
  struct Hook;
  void EndHook(const Hook& hook, const Status& status);
  StartOutcome Fail(const StartRequest& request, std::string reason, std::string message);

  const SyncParts& parts_;
  Context ctx_;
  mutable Mutex mu_;
  std::map<std::string, std::set<std::string>> hooks_ COX_GUARDED_BY(mu_);  // by the Pod's uid
  PendingWork pending_;
};

}  // namespace cox::kubelet
