// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/doorbell.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "coxswain/cache.h"
#include "coxswain/informer.h"
#include "sdk/cache/delta_queue.h"
#include "sdk/cache/indexer.h"
#include "sdk/cache/item.h"

namespace cox::sdk {

// The informer of one resource: decides what of all it hears is news. It hears lists and events
// from its feeds (a reflector each, of all namespaces or of one) and own writes from their writers,
// in any order and from many threads.
//
// What is news, where versions of one resource are ordered and a uid never comes back:
//   - an object newer than the one that is kept;
//   - an object that is not kept, unless its feed has been where it is from (then it was deleted
//     since) or this process has deleted it;
//   - a deletion not older than what is kept;
//   - of a list, the absence of what is kept, unless that is newer than the list.
// Threads and ownership: see SharedInformer. Made by make_shared: handles refer to it weakly.
class ResourceInformer final : public SharedInformer,
                               public std::enable_shared_from_this<ResourceInformer> {
 public:
  // One reflector's part of the objects. A number, so that a feed that was ended cannot be taken
  // for another of the same namespace.
  using FeedId = uint64_t;

  // `resync_changed` is rung when Resync() has a new answer.
  ResourceInformer(const Resource& resource, bool metadata_only, CacheScope scope, Clock& clock,
                   Clock::Duration default_resync, std::shared_ptr<Doorbell> resync_changed);
  ~ResourceInformer() override;

  const Resource& resource() const override { return form_->resource(); }
  bool HasSynced() const override;
  Status WaitSynced(Context& ctx) const override;
  InformerHandle AddHandler(DeltaHandler handler, HandlerOptions options = {}) override;
  void AddIndex(std::string name, IndexFunction function) override;
  ObjectPtr Get(const ObjectKey& key) const override;
  std::vector<ObjectPtr> List(std::string_view ns, const labels::Selector& labels) const override;
  std::vector<ObjectPtr> Find(std::string_view index, std::string_view value) const override;
  size_t size() const override { return indexer_.size(); }
  std::string resource_version() const override;
  size_t bytes() const override { return indexer_.bytes(); }
  void ObserveWrite(ObjectPtr object, int64_t base, std::string_view writer) override;
  void ObserveDelete(const ObjectKey& key, std::string_view uid) override;

  // --- For reflectors.
  const CacheScope& scope() const { return scope_; }
  bool metadata_only() const { return form_->metadata_only(); }
  // `ns` empty: all of them.
  FeedId StartFeed(const std::string& ns);
  // The objects of that feed are deleted.
  void EndFeed(FeedId feed);
  // As it would be kept; what is kept already is shared, so that listing again takes no memory.
  Item Prepare(ObjectPtr object) const;
  // A whole list. False, and nothing is taken, if it is older than what the feed has seen, unless
  // it is `newest`: asked of the server without a version. Then the server itself has gone back
  // (restored from a backup), and its word counts.
  bool Replace(FeedId feed, std::vector<Item> items, const std::string& version, bool newest);
  void Apply(FeedId feed, const WatchEvent<Object>& event);

  // --- For the cache.
  // Nothing comes any more: who waits for sync is told.
  void End();
  // Pushes every object to the handlers that are due, and says when the next one is.
  Clock::SteadyTime Resync();

 private:
  class Registration;
  struct Feed {
    std::string ns;
    bool synced = false;
    std::string version;   // complete up to here
    int64_t position = 0;  // the same as a number
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
  // Puts delta.after in the place of `before` (which may be empty) and tells the handlers.
  void Keep(const Item& before, PendingDelta delta) COX_REQUIRES(mu_);
  void Drop(const Item& before, PendingDelta delta) COX_REQUIRES(mu_);
  void DropAbsent(const Feed& feed, const std::vector<Item>& items, int64_t version)
      COX_REQUIRES(mu_);
  void ApplyChange(const Feed& feed, const Item& item) COX_REQUIRES(mu_);
  void ApplyDeletion(const Item& item) COX_REQUIRES(mu_);
  // Whether this process knows that the object has gone since.
  bool GoneSince(const Item& item) COX_REQUIRES(mu_);
  void RememberGone(const ObjectKey& key, std::string_view uid, int64_t uid_until,
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
  const std::shared_ptr<Doorbell> resync_changed_;

  Indexer indexer_;  // changed by holders of mu_, read by all

  mutable Mutex mu_;
  mutable CondVar changed_;  // of what HasSynced says
  FeedId last_feed_ COX_GUARDED_BY(mu_) = 0;
  std::map<FeedId, Feed> feeds_ COX_GUARDED_BY(mu_);
  // What this process has deleted or moved out of the scope, and whose earlier events may still
  // come: the version up to which they count for nothing. By uid, and, for those that had the name
  // before, by "namespace/name".
  LruMap<int64_t> gone_ COX_GUARDED_BY(mu_);
  LruMap<int64_t> gone_names_ COX_GUARDED_BY(mu_);
  std::vector<Subscriber> subscribers_ COX_GUARDED_BY(mu_);
  std::shared_ptr<const Queues> queues_ COX_GUARDED_BY(mu_);
  bool ended_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::sdk
