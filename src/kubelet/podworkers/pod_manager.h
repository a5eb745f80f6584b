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

// One life of a container, as logs, exec and attach need it.
struct ContainerRef {
  std::string id;  // of the runtime, without its name in front
  std::string pod_uid;
  uint32_t attempt = 0;
  bool running = false;
  std::string log_path;  // whole: <pod_logs_dir>/<ns>_<name>_<uid>/<container>/<attempt>.log
};

// Runs the Pods of this node: sandboxes, images, containers, volumes, hooks, probes, status.
//
// It is told of Pods by whoever has the informer of spec.nodeName=<us>, and of containers by the
// runtime's events; each piece of news wakes the worker of one Pod, which compares what is wanted
// with what runs (actions/) and does what is to be done. A relist now and then finds what events
// have missed.
//
// Guarantees: one Pod is worked on by one thread at a time; the number of threads is bounded.
//   Nothing that takes long (a grace period, a pull, a hook) holds a worker. An agent that is
//   started anew takes over what runs: nothing is restarted for that. What the runtime has and the
//   API does not is ended, once OnPodsSynced was called.
// Threads: all methods may be called concurrently. OnPod* only enqueue.
// Ownership: all of Parts outlive it.
class PodManager {
 public:
  struct Parts {
    Client& client;
    runtime::Runtime& runtime;
    EventRecorder& events;
    MetricsRegistry* metrics = nullptr;  // may be null
    // Mounts of the kernel; null: MakeMounter().
    Mounter* mounter = nullptr;
    // Services of a namespace ("default" too is asked for); may be empty: no variables of services.
    std::function<std::vector<std::shared_ptr<const core::v1::Service>>(const std::string& ns)>
        services;
    // This node as the API has it, null while it has none; may be empty.
    std::function<std::shared_ptr<const core::v1::Node>()> node;
  };
  static std::unique_ptr<PodManager> Create(const Context& ctx, Options options, Parts parts);
  virtual ~PodManager() = default;

  // From the informer of this node's Pods: added or changed; and gone from the API.
  virtual void OnPod(std::shared_ptr<const core::v1::Pod> pod) = 0;
  virtual void OnPodDeleted(std::shared_ptr<const core::v1::Pod> last) = 0;
  // OnPod was called for the whole first list: what is not known now is not wanted here.
  virtual void OnPodsSynced() = 0;
  // Services have changed or so: nothing of it restarts containers, later ones see it. Looks at
  // all Pods again.
  virtual void Resync() = 0;

  // Works until `ctx` stops. Containers run on after that.
  virtual Status Run(Context& ctx) = 0;

  // Ends a Pod that nobody deleted: an eviction, a shutdown of the node. NotFound.
  virtual Status EndPod(const std::string& uid, PodEnd end) = 0;

  // What it knows, with the newest statuses: for /pods of the node's server.
  virtual List<core::v1::Pod> Pods() const = 0;
  // With the newest status; null if unknown. `uid` may be empty: whichever is there.
  virtual std::shared_ptr<const core::v1::Pod> FindPod(const ObjectKey& key,
                                                       const std::string& uid = {}) const = 0;

  // The newest life of a container, or with `previous` the one before it. NotFound and BadRequest
  // with upstream's texts (`container "x" in pod "y" is waiting to start: ContainerCreating`).
  virtual Result<ContainerRef> FindContainer(Context& ctx, const ObjectKey& pod,
                                             const std::string& uid, const std::string& container,
                                             bool previous = false) = 0;
  // The sandbox that is up: port-forward. NotFound.
  virtual Result<std::string> SandboxOf(Context& ctx, const ObjectKey& pod,
                                        const std::string& uid) = 0;

  // OK while the runtime answers: the last relist is not older than three minutes. Else why not,
  // for the node's condition Ready: `PLEG is not healthy: pleg was last seen active ...`.
  virtual Status Ready() const = 0;
};

}  // namespace cox::kubelet
