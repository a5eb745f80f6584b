// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/scope.h"
#include "coxswain/controller.h"
#include "coxswain/informer.h"
#include "sdk/controller/controller_metrics.h"
#include "sdk/controller/keys_of.h"

namespace cox::sdk {

// One watched kind of a controller.
struct WatchSpec {
  std::shared_ptr<SharedInformer> informer;
  KeysOf keys;
  std::vector<Predicate> predicates;  // all must hold
};

struct ControllerSpec {
  std::string name;
  ControllerOptions options;
  std::vector<WatchSpec> watches;
  std::vector<Source> sources;
  std::unique_ptr<Reconciler> reconciler;
};

// A reconciler with its queue, the sources of keys, and the workers.
//
// Lifetime: Run may be called once. Handlers are registered when Run begins, and informers then
//   deliver all existing objects; nothing is queued before.
// Threads: Run is called by one thread; the controller starts its own workers.
class Controller {
 public:
  Controller(Clock& clock, MetricsRegistry& metrics, ControllerSpec spec);

  // Runs until `ctx` stops or a source fails, and returns the error of the source. All reconciles
  // have ended when it returns.
  Status Run(Context& ctx);

 private:
  void OnDelta(const WatchSpec& watch, const Delta& delta);
  Status StartSources(Scope& scope, Context& run);
  // Reconciles keys from the queue on this thread.
  void Work(Context& run);
  void Process(Context& ctx, const WorkQueue::Item& item, const Context& run);
  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key);

  Clock& clock_;
  ControllerMetrics metrics_;
  const std::unique_ptr<WorkQueue> queue_;
  const ControllerSpec spec_;  // without the limiter, which is moved to the queue
};

}  // namespace cox::sdk
