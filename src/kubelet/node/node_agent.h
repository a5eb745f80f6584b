// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/notification.h"
#include "coxswain/client.h"
#include "coxswain/event_recorder.h"
#include "kubelet/node/node_object.h"
#include "kubelet/node/node_status.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

// Registers this node, updates its status and renews its Lease.
//
// Guarantees: the status is written when it changes, and at least every status_report. It is
//   computed every status_update, after Wake, and twice a second until the node is ready, so that
//   the node becomes Ready as soon as its runtime is. An unreachable runtime makes the node
//   NotReady after 30 seconds, so that runtime restarts do not. A deleted Node is registered again.
// Threads: Wake may be called by any thread; Run once.
// Ownership: all of Parts outlive it.
class NodeAgent {
 public:
  struct Parts {
    Client& client;
    runtime::Runtime& runtime;
    EventRecorder* events = nullptr;  // may be null
    // The readiness of the Pod manager; an error makes the node NotReady. May be empty.
    std::function<Status()> pods_ready;
    // The Node from a cache, null if it is not there. If empty, the API server is read.
    std::function<std::shared_ptr<const core::v1::Node>()> cached;
    std::string machine_root;  // prefix of /proc and /sys, for tests
  };
  NodeAgent(NodeOptions options, Parts parts);

  // Runs until `ctx` is cancelled. Returns an error if the machine's properties cannot be read.
  Status Run(Context& ctx);
  // Triggers a sync, because the Node, the images or the Pods' readiness may have changed.
  void Wake() { changed_.Notify(); }

  // The steps of Run. For tests.
  Status Register(Context& ctx);
  Status Sync(Context& ctx);

 private:
  Status Prepare();
  void RunStatus(Context& ctx);
  void AwaitPods(Context& ctx);
  NodeFacts Gather(Context& ctx);
  Result<runtime::RuntimeStatus> GetRuntimeStatus(Context& ctx);
  Pressure MeasurePressure(Context& ctx);
  Result<core::v1::Node> CurrentNode(Context& ctx);
  Status Write(Context& ctx, const core::v1::Node& node, const core::v1::NodeStatus& status);
  void SetPodCidr(Context& ctx, const core::v1::Node& node);
  void RecordChanges(const core::v1::Node& node, const core::v1::NodeStatus& after);
  Clock::Duration Pause(const Clock& clock) const;

  const NodeOptions options_;
  const Parts parts_;
  Notification changed_;
  // Used only by the status thread.
  std::optional<Machine> machine_;
  runtime::Version version_;
  List<cri::v1::Image> images_;
  std::optional<Clock::SteadyTime> images_at_;
  std::string image_folder_;
  std::optional<runtime::RuntimeStatus> last_status_;
  Clock::SteadyTime last_answer_;
  PressureHistory pressure_;
  std::optional<Clock::SteadyTime> reported_;
  std::optional<Clock::SteadyTime> started_;
  bool ready_ = false;
  std::optional<core::v1::Node> written_;  // as returned by the API server
  std::string pod_cidr_;
};

}  // namespace cox::kubelet
