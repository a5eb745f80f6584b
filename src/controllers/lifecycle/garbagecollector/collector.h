// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "base/result.h"
#include "controllers/lifecycle/garbagecollector/decide.h"
#include "controllers/lifecycle/garbagecollector/graph.h"
#include "controllers/lifecycle/garbagecollector/kinds.h"
#include "coxswain/client.h"
#include "coxswain/event_recorder.h"

namespace cox::controllers::gc {

// Processes one object of the garbage collector's queues. The graph selects the objects; before a
// deletion the collector reads from the API server, because the graph may be stale.
//
// Guarantees: an object is deleted only if the API server confirms that each of its owners is
//   absent (or waits for its dependents), and only with uid and resourceVersion as preconditions.
// Threads: all methods may be called concurrently, for different objects.
class Collector {
 public:
  using NotifyFunc = std::function<void(const Effects&)>;
  Collector(Client& client, EventRecorder& events, Graph& graph, const Kinds& kinds,
            NotifyFunc notify)
      : client_(client),
        events_(events),
        graph_(graph),
        kinds_(kinds),
        notify_(std::move(notify)) {}

  // kRetry: an owner exists that no informer has observed yet. Its deletion might cause no
  // event, so the object has to be requeued.
  enum class Outcome : uint8_t { kDone, kRetry };
  Result<Outcome> AttemptToDelete(Context& ctx, const std::string& uid);
  // Removes the owner reference from the dependents, then the orphan finalizer from the owner.
  Status AttemptToOrphan(Context& ctx, const std::string& uid);
  // Records that informers observed the owner's deletion. It is used if the owner's kind is no
  // longer served, so that the API server cannot be queried.
  void RecordAbsent(const Identity& owner);

 private:
  struct OwnerStatuses {
    std::vector<OwnerStatus> owners;
    bool unseen = false;   // an existing owner is not in the graph
    bool invalid = false;  // a namespaced owner of a cluster-scoped object
  };

  // Returns NotFound, with the name in its details, if the object is absent or has another uid.
  Result<meta::v1::ObjectMeta> Read(Context& ctx, const Identity& identity);
  Result<OwnerStatuses> ClassifyOwners(Context& ctx, const Identity& identity,
                                       const meta::v1::ObjectMeta& meta);
  Result<OwnerStatus> ClassifyOwner(Context& ctx, const Identity& dependent,
                                    const meta::v1::OwnerReference& reference,
                                    OwnerStatuses& classified_owners);
  Result<OwnerState> GetOwnerState(Context& ctx, const Identity& owner);
  void ReportInvalid(const Identity& dependent, const Identity& owner);

  Status Act(Context& ctx, const Identity& identity, const meta::v1::ObjectMeta& meta,
             const Action& action);
  Status Delete(Context& ctx, const Identity& identity, const meta::v1::ObjectMeta& meta,
                Propagation propagation);
  Status AwaitDependents(Context& ctx, const Identity& identity);
  Status RemoveFinalizerOf(Context& ctx, const Identity& identity, std::string_view finalizer);
  Status RemoveOwnerOf(Context& ctx, const Identity& dependent, const std::string& owner_uid);
  Status PatchIt(Context& ctx, const Identity& identity, const Patch& patch);

  bool WasSeenToGo(const Identity& owner);

  Client& client_;
  EventRecorder& events_;
  Graph& graph_;
  const Kinds& kinds_;
  const NotifyFunc notify_;

  Mutex mu_;
  // Owners that the API server does not have; uids are never reused. The key is the whole identity
  // except the version, because two references may contain the same uid, and only one of them may
  // have the right coordinates.
  LruMap<bool> absent_ COX_GUARDED_BY(mu_){500};
  // Owners of custom kinds whose deletion the informers observed; the kind may be deleted with its
  // objects.
  LruMap<bool> seen_to_go_ COX_GUARDED_BY(mu_){5'000};
};

}  // namespace cox::controllers::gc
