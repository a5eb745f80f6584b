// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "base/notification.h"
#include "coxswain/cache.h"
#include "coxswain/informer.h"
#include "sdk/cache/delta_queue.h"
#include "sdk/cache/indexer.h"
#include "sdk/cache/item.h"

namespace cox::sdk {

// One event of a watch, with the object in its cached form.
struct ItemEvent {
  EventType type = EventType::kAdded;
  Item item = {};       // empty for bookmarks
  std::string version;  // the resourceVersion; empty if the server sent none
  bool initial_events_end = false;
};

// The informer of one resource. Receives lists and events from its feeds (one reflector each, for
// all namespaces or for one) and own writes from their writers, in any order and on many threads,
// and decides which of them to apply.
//
// Versions of one resource are ordered and a uid is never reused. These are applied:
//   - an object newer than the cached one;
//   - an object that is not cached, unless its feed has already passed its version (then it has
//     been deleted since) or this process has deleted it;
//   - a deletion not older than the cached object;
//   - for a list, the absence of a cached object, unless that is newer than the list.
// Threads and ownership: see SharedInformer. Create with make_shared: handles keep weak references.
class ResourceInformer final : public SharedInformer,
                               public std::enable_shared_from_this<ResourceInformer> {
 public:
  // Identifies one reflector's part of the objects. A number, so that an ended feed cannot be
  // confused with a later feed of the same namespace.
  using FeedId = uint64_t;

  // `resync_changed` is notified when the result of Resync() changes.
  ResourceInformer(const Resource& resource, bool metadata_only, CacheScope scope, Clock& clock,
                   Clock::Duration default_resync, std::shared_ptr<Notification> resync_changed);
  ~ResourceInformer() override;

  const Resource& resource() const override { return form_->resource(); }
  bool HasSynced() const override;
  Status WaitSynced(Context& ctx) const override;
  InformerHandle AddHandler(DeltaHandler handler, HandlerOptions options = {}) override;
  InformerHandle AddObserver(ChangeObserver observer) override;
  void BetweenChanges(const std::function<void()>& read) const override;
  void AddIndex(std::string name, IndexFunction function) override;
  ObjectPtr Get(const ObjectKey& key) const override;
  std::vector<ObjectPtr> List(std::string_view ns, const labels::Selector& labels) const override;
  void ForEach(std::string_view ns,
               const std::function<bool(const ObjectPtr&)>& visit) const override;
  std::vector<ObjectPtr> Find(std::string_view index, std::string_view value) const override;
  void Visit(std::string_view index, std::string_view value,
             const std::function<bool(const Object&)>& visit) const override;
  size_t size() const override { return indexer_.size(); }
  std::string resource_version() const override;
  size_t bytes() const override { return indexer_.bytes(); }
  // The number of objects that List, ForEach, Find and Visit have read since the start.
  size_t listed() const { return listed_.load(std::memory_order_relaxed); }
  void ObserveWrite(ObjectPtr object, int64_t base, std::string_view writer) override;
  void ObserveDelete(const ObjectKey& key, std::string_view uid) override;

  // --- For reflectors.
  const CacheScope& scope() const { return scope_; }
  bool metadata_only() const { return form_->metadata_only(); }
  // `ns` empty: all namespaces.
  FeedId StartFeed(const std::string& ns);
  // Deletes the objects of that feed from the cache.
  void EndFeed(FeedId feed);
  // Converts to the cached form. Shares an item that is already cached, so that a relist needs no
  // additional memory.
  Item Prepare(ObjectPtr object) const;
  // The same for an object of the server's cache in this process. REQUIRES: shares_objects()
  Item Prepare(EncodedObjectPtr object) const;
  bool shares_objects() const { return form_->shares_objects(); }
  // Applies a complete list. Returns false and changes nothing if the list is older than the feed,
  // unless `newest` is set (the list was requested without a version): then the server itself has
  // gone back, for example restored from a backup, and the list is applied.
  bool Replace(FeedId feed, std::vector<Item> items, const std::string& version, bool newest);
  void Apply(FeedId feed, const ItemEvent& event);

  // --- For the cache.
  // Ends the informer and wakes threads in WaitSynced.
  void End();
  // Pushes every object to the handlers that are due. Returns the time of the next resync.
  Clock::SteadyTime Resync();

 private:
  class Registration;
  class Observation;
  struct Feed {
    std::string ns;
    bool synced = false;
    std::string version;   // the feed is complete up to this version
    int64_t position = 0;  // `version` as a number
  };
  struct Subscriber {
    std::shared_ptr<DeltaQueue> queue;
    Clock::Duration resync = {};
    Clock::SteadyTime due = Clock::kNever;
  };
  using Queues = std::vector<std::shared_ptr<DeltaQueue>>;

  bool SyncedLocked() const COX_REQUIRES(mu_);
  Feed* FeedOf(std::string_view ns) COX_REQUIRES(mu_);
  void Push(const PendingDelta& delta) COX_REQUIRES(mu_);
  // Replaces `before` (which may be empty) by delta.after and notifies the handlers.
  void Keep(const Item& before, PendingDelta delta) COX_REQUIRES(mu_);
  void Drop(const Item& before, PendingDelta delta) COX_REQUIRES(mu_);
  void ShareKept(const Item& kept, const Item& item) COX_REQUIRES(mu_);
  void Observe(const Item& before, const Item& after) COX_REQUIRES(mu_);
  void DropAbsent(const Feed& feed, const std::vector<Item>& items, int64_t version)
      COX_REQUIRES(mu_);
  void ApplyChange(const Feed& feed, const Item& item) COX_REQUIRES(mu_);
  void ApplyDeletion(const Item& item) COX_REQUIRES(mu_);
  // True if this process deleted the object, or moved it out of the scope, after this version.
  bool HasTombstone(const Item& item) COX_REQUIRES(mu_);
  void RecordTombstone(const ObjectKey& key, std::string_view uid, int64_t uid_until,
                       int64_t name_until) COX_REQUIRES(mu_);
  void PublishQueues() COX_REQUIRES(mu_);
  void Unregister(const DeltaQueue* queue);
  Clock::SteadyTime NextResync(Clock::Duration every) const;
  static void Drain(const Queues& queues);

  // Constant.
  const CacheScope scope_;
  const std::shared_ptr<const ItemForm> form_;
  Clock& clock_;
  const Clock::Duration default_resync_;
  const std::shared_ptr<Notification> resync_changed_;

  Indexer indexer_;  // changed by holders of mu_, read by all
  mutable std::atomic<size_t> listed_ = 0;

  mutable Mutex mu_;
  mutable CondVar changed_;  // signals changes of HasSynced
  FeedId last_feed_ COX_GUARDED_BY(mu_) = 0;
  std::map<FeedId, Feed> feeds_ COX_GUARDED_BY(mu_);
  // Objects that this process deleted or moved out of the scope and whose earlier events may still
  // arrive. The value is the version up to which such events are ignored. Keyed by uid and, for
  // earlier objects of the same name, by "namespace/name".
  LruMap<int64_t> gone_ COX_GUARDED_BY(mu_);
  LruMap<int64_t> gone_names_ COX_GUARDED_BY(mu_);
  std::vector<Subscriber> subscribers_ COX_GUARDED_BY(mu_);
  std::shared_ptr<const Queues> queues_ COX_GUARDED_BY(mu_);
  std::map<uint64_t, ChangeObserver> observers_ COX_GUARDED_BY(mu_);
  uint64_t last_observer_ COX_GUARDED_BY(mu_) = 0;
  bool ended_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::sdk
