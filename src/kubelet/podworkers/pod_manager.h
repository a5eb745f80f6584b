// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/metrics.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "coxswain/event_recorder.h"
#include "coxswain/object_key.h"
#include "kubelet/actions/decide.h"
#include "kubelet/options/options.h"
#include "kubelet/volumes/files/mounter.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

// One instance of a container, for logs, exec and attach.
struct ContainerRef {
  std::string id;  // without the runtime's prefix
  std::string pod_uid;
  uint32_t attempt = 0;
  bool running = false;
  std::string log_path;  // absolute: <pod_logs_dir>/<ns>_<name>_<uid>/<container>/<attempt>.log
};

// Runs the Pods of this node: sandboxes, images, containers, volumes, hooks, probes, status.
//
// The owner of the informer for spec.nodeName=<node> reports Pods to it, the runtime's events
// report containers; each wakes the worker of one Pod, which compares the desired with the observed
// state (actions/) and executes the difference. A periodic relist finds missed events.
//
// Guarantees: one Pod is synced by one thread at a time; the number of threads is bounded. Nothing
//   slow (a grace period, a pull, a hook) blocks a worker. A restarted kubelet adopts running
//   containers without restarting them. Pods that are in the runtime but not in the API are ended
//   after OnPodsSynced was called.
// Threads: all methods may be called concurrently. OnPod* only enqueue.
// Ownership: all of Parts outlive it.
class PodManager {
 public:
  struct Parts {
    Client& client;
    runtime::Runtime& runtime;
    EventRecorder& events;
    MetricsRegistry* metrics = nullptr;  // may be null
    // Performs mounts; null: MakeMounter().
    Mounter* mounter = nullptr;
    // Services of a namespace ("default" is read too); if empty, containers get no service
    // variables.
    std::function<std::vector<std::shared_ptr<const core::v1::Service>>(const std::string& ns)>
        services;
    // This Node as the API has it, null while it is missing; may be empty.
    std::function<std::shared_ptr<const core::v1::Node>()> node;
  };
  static std::unique_ptr<PodManager> Create(const Context& ctx, Options options, Parts parts);
  virtual ~PodManager() = default;

  // Informer events for this node's Pods: added or updated; and deleted.
  virtual void OnPod(std::shared_ptr<const core::v1::Pod> pod) = 0;
  virtual void OnPodDeleted(std::shared_ptr<const core::v1::Pod> last) = 0;
  // OnPod was called for the whole initial list: Pods that are unknown now are orphans.
  virtual void OnPodsSynced() = 0;
  // Requeues all Pods, for example after services have changed. Running containers are not
  // restarted for it; new ones use the new services.
  virtual void Resync() = 0;

  // Runs until `ctx` is cancelled. Containers keep running after that.
  virtual Status Run(Context& ctx) = 0;

  // Ends a Pod without an API deletion: an eviction, a node shutdown. NotFound.
  virtual Status EndPod(const std::string& uid, PodEnd end) = 0;

  // All Pods with their newest statuses, for the endpoint /pods.
  virtual List<core::v1::Pod> Pods() const = 0;
  // With the newest status; null if unknown. An empty `uid` matches any UID.
  virtual std::shared_ptr<const core::v1::Pod> FindPod(const ObjectKey& key,
                                                       const std::string& uid = {}) const = 0;

  // The newest instance of a container, or with `previous` the one before it. NotFound and
  // BadRequest with upstream's texts (`container "x" in pod "y" is waiting to start:
  // ContainerCreating`).
  virtual Result<ContainerRef> FindContainer(Context& ctx, const ObjectKey& pod,
                                             const std::string& uid, const std::string& container,
                                             bool previous = false) = 0;
  // The ready sandbox, for port-forward. NotFound.
  virtual Result<std::string> SandboxOf(Context& ctx, const ObjectKey& pod,
                                        const std::string& uid) = 0;

  // OK while the last successful relist is at most three minutes old. Otherwise the message of the
  // Node's condition Ready: `PLEG is not healthy: pleg was last seen active ...`.
  virtual Status Ready() const = 0;
};

}  // namespace cox::kubelet
