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

// Does what is to be done about one object. The graph says which objects are worth a look; before
// anything is deleted the server is asked, because the graph may be behind.
//
// Guarantees: an object is deleted only if each of its owners is gone (or waits for its dependents)
//   by the server's word, and only that very version of that very object: by uid and
//   resourceVersion.
// Threads: all methods may be called concurrently, for different objects.
class Collector {
 public:
  using Tell = std::function<void(const Effects&)>;
  Collector(Client& client, EventRecorder& events, Graph& graph, const Kinds& kinds, Tell tell)
      : client_(client), events_(events), graph_(graph), kinds_(kinds), tell_(std::move(tell)) {}

  // kLookAgain: an owner is there that no informer has shown yet; when it goes nobody might say.
  enum class Outcome : uint8_t { kDone, kLookAgain };
  Result<Outcome> AttemptToDelete(Context& ctx, const std::string& uid);
  // Takes the owner off its dependents, then lets it go.
  Status AttemptToOrphan(Context& ctx, const std::string& uid);
  // The owner was seen to go. Counts where the server cannot be asked: its kind went with it.
  void NoteGone(const Identity& owner);

 private:
  struct Judgement {
    std::vector<JudgedOwner> owners;
    bool unseen = false;   // one of those that are there is not in the graph
    bool invalid = false;  // a namespaced owner of something that is in no namespace
  };

  // NotFound, with the name in its details, if there is none, or another of that name.
  Result<meta::v1::ObjectMeta> Read(Context& ctx, const Identity& identity);
  Result<Judgement> Judge(Context& ctx, const Identity& identity, const meta::v1::ObjectMeta& meta);
  Result<JudgedOwner> JudgeOwner(Context& ctx, const Identity& dependent,
                                 const meta::v1::OwnerReference& reference, Judgement& judgement);
  Result<OwnerState> AskForOwner(Context& ctx, const Identity& owner);
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
  const Tell tell_;

  Mutex mu_;
  // Owners that the server does not have: uids do not come back. By all of their identity but the
  // version, since the same uid may be named in two places and be right in one.
  LruMap<bool> absent_ COX_GUARDED_BY(mu_){500};
  // By the informers' word; of kinds that may go with their objects.
  LruMap<bool> seen_to_go_ COX_GUARDED_BY(mu_){5'000};
};

}  // namespace cox::controllers::gc
