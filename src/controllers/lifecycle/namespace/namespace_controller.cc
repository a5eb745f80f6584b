// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/namespace/namespace_controller.h"

#include <algorithm>

#include "api/core/v1.h"
#include "base/await_stop.h"
#include "controllers/lifecycle/namespace/content.h"
#include "controllers/shared/namespaces.h"
#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using core::v1::Namespace;
using core::v1::Pod;
using std::chrono::seconds;

constexpr std::string_view kFinalizer = "kubernetes";
// Minimum time between deletion and finalization of a namespace. A create request that any API
// server admitted just before the deletion is stored by then and found.
constexpr seconds kSettle{5};
// Requeue delay after a Pod's deletion, because thousands of Pods may be deleted together.
constexpr seconds kAfterPod{1};

class NamespaceReconciler final : public Reconciler {
 public:
  explicit NamespaceReconciler(Manager& manager)
      : client_(manager.client()), namespaces_(manager.cache().ListerOf<Namespace>()) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto present = namespaces_.Get(key);
    if (present == nullptr || !present->metadata.deletionTimestamp) return ReconcileResult::Done();
    const auto& finalizers = present->spec.finalizers;
    if (std::find(finalizers.begin(), finalizers.end(), kFinalizer) == finalizers.end()) {
      return ReconcileResult::Done();  // other finalizers belong to other controllers
    }
    const Time now = TimeNow(ctx.clock());
    const Remains remains = DeleteContent(ctx, client_, key.name);
    if (ctx.Done()) return ctx.status();  // the result is incomplete
    Namespace ns = *present;
    COX_RETURN_IF_ERROR(WriteStatus(ctx, remains, ns));
    COX_RETURN_IF_ERROR(remains.status());
    if (!remains.empty()) return ReconcileResult::After(remains.RequeueAfter());
    const Time settled = *ns.metadata.deletionTimestamp + Duration::Seconds(kSettle.count());
    if (now < settled) {
      return ReconcileResult::After(seconds(settled.unix_seconds() - now.unix_seconds()));
    }
    return Finalize(ctx, std::move(ns));
  }

 private:
  Status WriteStatus(Context& ctx, const Remains& remains, Namespace& ns) {
    bool changed = SetDeletionConditions(remains, TimeNow(ctx.clock()), ns.status);
    if (ns.status.phase != core::v1::kNamespaceTerminating) {
      ns.status.phase = core::v1::kNamespaceTerminating;
      changed = true;
    }
    if (!changed) return {};
    COX_ASSIGN_OR_RETURN(ns, client_.UpdateStatus(ctx, ns));
    return {};
  }

  Result<ReconcileResult> Finalize(Context& ctx, Namespace ns) {
    erase(ns.spec.finalizers, kFinalizer);
    const Status status =
        client_.Update(ctx, std::move(ns), WriteOptions{.subresource = "finalize"}).status();
    if (!status.ok() && !status.Is(Reason::kNotFound)) return status;
    return ReconcileResult::Done();
  }

  Client& client_;
  const Lister<Namespace> namespaces_;
};

// Enqueues a terminating namespace when one of its Pods is deleted, instead of after the Pod's
// grace period.
Source WhenPodsEnd(Cache& cache) {
  return [pods = cache.Get(Resource::Of<Pod>()), namespaces = cache.ListerOf<Namespace>()](
             Context& ctx, WorkQueue& queue) {
    const InformerHandle handle = pods->AddHandler([&](const Delta& delta) {
      if (delta.type != Delta::Type::kDeleted) return;
      const ObjectKey ns = {"", HeadOf(*delta.before).key.ns};
      const auto present = namespaces.Get(ns);
      if (present != nullptr && IsTerminating(*present)) queue.AddAfter(ns, kAfterPod);
    });
    (void)AwaitStop(ctx);
    return Status();
  };
}

}  // namespace

Status AddNamespaceController(Manager& manager, const NamespaceOptions& options) {
  return ControllerFor<Namespace>(manager)
      .Named("namespace-controller")
      .Filter(predicates::On<Namespace>(
          [](const Namespace& ns) { return ns.metadata.deletionTimestamp.has_value(); }))
      .From(WhenPodsEnd(manager.cache()))
      .With({.max_concurrent_reconciles = options.concurrent_syncs, .ignore_own_writes = true})
      .Complete(std::make_unique<NamespaceReconciler>(manager));
}

}  // namespace cox::controllers
