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

// One kind of objects that a controller hears of.
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

// A reconciler with its queue, what fills that, and the workers that empty it.
//
// Lifetime: Run once. While it does not run, nothing is queued: handlers are registered when it
//   begins, and informers then tell of all there is.
// Threads: Run by one; the rest is its own.
class Controller {
 public:
  Controller(Clock& clock, MetricsRegistry& metrics, ControllerSpec spec);

  // Until `ctx` stops, or a source fails: then its error. Reconciles in flight have ended when it
  // returns.
  Status Run(Context& ctx);

 private:
  void OnDelta(const WatchSpec& watch, const Delta& delta);
  Status StartSources(Scope& scope, Context& run);
  // Reconciles what the queue hands out, on this thread.
  void Work(Context& run);
  void Process(Context& ctx, const WorkQueue::Item& item, const Context& run);
  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key);

  Clock& clock_;
  ControllerMetrics metrics_;
  const std::unique_ptr<WorkQueue> queue_;
  const ControllerSpec spec_;  // but for the limiter, which the queue has
};

}  // namespace cox::sdk
