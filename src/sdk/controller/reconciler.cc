// SPDX-License-Identifier: Apache-2.0
#include "coxswain/reconciler.h"

#include <utility>

#include "coxswain/controller.h"

namespace cox {
namespace {

class FunctionReconciler final : public Reconciler {
 public:
  explicit FunctionReconciler(ReconcileFunction function) : function_(std::move(function)) {}
  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    return function_(ctx, key);
  }

 private:
  const ReconcileFunction function_;
};

}  // namespace

std::unique_ptr<Reconciler> MakeReconciler(ReconcileFunction function) {
  return function == nullptr ? nullptr : std::make_unique<FunctionReconciler>(std::move(function));
}

Source Every(Clock::Duration period, std::function<std::vector<ObjectKey>()> list) {
  return [period, list = std::move(list)](Context& ctx, WorkQueue& queue) -> Status {
    do {
      for (ObjectKey& key : list()) queue.Add(std::move(key));
    } while (ctx.Sleep(period).ok());
    return {};
  };
}

}  // namespace cox
