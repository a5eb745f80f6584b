// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox {

// Result of a reconcile. Return a Status for an error: it is logged, counted, and retried with
// exponential backoff.
struct ReconcileResult {
  // Requeue after this time even without a change. 0: only after a change.
  Clock::Duration requeue_after{};
  // A permanent error: logged, counted as terminal, not retried.
  Status terminal;

  static ReconcileResult Done() { return {}; }
  static ReconcileResult After(Clock::Duration delay) { return {.requeue_after = delay}; }
  static ReconcileResult GiveUp(Status why) { return {.terminal = std::move(why)}; }
};

// Brings the cluster to the state that an object specifies.
//
// Reconcile receives the key of an object that may have changed, may be unchanged, or may be gone.
// It reads the current state, compares it with the desired state, and applies the difference:
// level-triggered, not edge-triggered. It may be called at any time and any number of times, and
// must be idempotent.
//
// Threads: called concurrently for different keys, never for the same key.
// Errors: return errors, do not log them. An exception that escapes counts as an error (and in
//   controller_runtime_reconcile_panics_total); the program continues.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  // `ctx` stops with the manager or after the reconcile timeout; its logger adds the names of the
  // controller and the object.
  virtual Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) = 0;
};

using ReconcileFunction = std::function<Result<ReconcileResult>(Context&, const ObjectKey&)>;
std::unique_ptr<Reconciler> MakeReconciler(ReconcileFunction function);

}  // namespace cox
