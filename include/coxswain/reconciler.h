// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox {

// What came of one reconcile. An error is a Status instead: it is logged, counted, and tried again
// after a wait that doubles.
struct ReconcileResult {
  // Look again after this long, even if nothing happens. 0: when something happens.
  Clock::Duration requeue_after{};
  // Failed, and trying again would not help: logged, counted as terminal, not retried.
  Status terminal;

  static ReconcileResult Done() { return {}; }
  static ReconcileResult After(Clock::Duration delay) { return {.requeue_after = delay}; }
  static ReconcileResult GiveUp(Status why) { return {.terminal = std::move(why)}; }
};

// Makes the world as one object says it should be.
//
// Reconcile gets the key of an object that may have changed, may be as before, or may be gone. It
// reads what is, compares with what should be, and does the difference: on the level, never on the
// edge. It may be called at any time, again and again, and must then change nothing.
//
// Threads: called concurrently for different keys, never for the same one.
// Errors: returned, not logged. An exception that escapes counts as an error (and in
//   controller_runtime_reconcile_panics_total); the program goes on.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  // `ctx` stops when the manager does or the reconcile takes longer than it may; its logger names
  // controller and object.
  virtual Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) = 0;
};

using ReconcileFunction = std::function<Result<ReconcileResult>(Context&, const ObjectKey&)>;
std::unique_ptr<Reconciler> MakeReconciler(ReconcileFunction function);

}  // namespace cox
