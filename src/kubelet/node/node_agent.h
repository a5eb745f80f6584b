// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/doorbell.h"
#include "coxswain/client.h"
#include "coxswain/event_recorder.h"
#include "kubelet/node/node_object.h"
#include "kubelet/node/node_status.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

// Registers this node, keeps its status true and its Lease fresh.
//
// Guarantees: the status is written when something of it has changed, else every status_report. It
//   is looked at every status_update, when Wake was called, and twice a second while the node is
//   not ready yet: it is Ready as soon as its runtime is. A runtime that does not answer makes it
//   NotReady after half a minute, not before: restarts are no news. A Node that was deleted is
//   registered again.
// Threads: Wake by any; Run once.
// Ownership: all of Parts outlive it.
class NodeAgent {
 public:
  struct Parts {
    Client& client;
    runtime::Runtime& runtime;
    EventRecorder* events = nullptr;  // may be null
    // Of what runs Pods: why the node is not ready. May be empty.
    std::function<Status()> pods_ready;
    // The Node as a cache has it, null if it has none. May be empty: then the API is asked.
    std::function<std::shared_ptr<const core::v1::Node>()> cached;
    std::string machine_root;  // before /proc and /sys, for tests
  };
  NodeAgent(NodeOptions options, Parts parts);

  // Until `ctx` stops. Not OK: this computer does not tell what it is.
  Status Run(Context& ctx);
  // Something may be different now: the Node, the images, the Pods' side.
  void Wake() { doorbell_.Ring(); }

  // The steps of Run. For tests.
  Status Register(Context& ctx);
  Status Sync(Context& ctx);

 private:
  Status Prepare();
  void RunStatus(Context& ctx);
  void AwaitPods(Context& ctx);
  NodeFacts Gather(Context& ctx);
  Result<runtime::RuntimeStatus> AskRuntime(Context& ctx);
  Pressure LookForPressure(Context& ctx);
  Result<core::v1::Node> CurrentNode(Context& ctx);
  Status Write(Context& ctx, const core::v1::Node& node, const core::v1::NodeStatus& status);
  void TellPodCidr(Context& ctx, const core::v1::Node& node);
  void RecordChanges(const core::v1::Node& node, const core::v1::NodeStatus& after);
  Clock::Duration Pause(const Clock& clock) const;

  const NodeOptions options_;
  const Parts parts_;
  Doorbell doorbell_;
  // Of the thread of the status.
  std::optional<Machine> machine_;
  runtime::Version version_;
  List<cri::v1::Image> images_;
  std::optional<Clock::SteadyTime> images_at_;
  std::string image_folder_;
  std::optional<runtime::RuntimeStatus> last_status_;
  Clock::SteadyTime last_answer_;
  PressureMemory pressure_;
  std::optional<Clock::SteadyTime> reported_;
  std::optional<Clock::SteadyTime> started_;
  bool ready_ = false;
  std::optional<core::v1::Node> written_;  // as the API gave it back
  std::string pod_cidr_;
};

}  // namespace cox::kubelet
