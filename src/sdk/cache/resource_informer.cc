// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/resource_informer.h"
#include "base/random.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <random>
#include <unordered_set>
#include <utility>

namespace cox::sdk {
namespace {

// Limit of remembered own deletions whose events have not arrived; the oldest are evicted first.
constexpr size_t kGoneLimit = 10'000;

int64_t NumberOf(const std::string& version) {
  int64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

// Objects without a version (which servers do not send) are always applied.
bool Newer(int64_t version, int64_t than) { return version == 0 || version > than; }

}  // namespace

// Unregisters the handler on destruction.
class ResourceInformer::Registration final : public InformerHandle::Registration {
 public:
  Registration(std::weak_ptr<ResourceInformer> informer, std::shared_ptr<DeltaQueue> queue)
      : informer_(std::move(informer)), queue_(std::move(queue)) {}
  ~Registration() override {
    if (const auto informer = informer_.lock()) informer->Unregister(queue_.get());
    queue_->Close();
  }

  bool synced() const override {
    if (synced_.load(std::memory_order_relaxed)) return true;
    const auto informer = informer_.lock();
    // The order matters: initial objects are pushed before the informer becomes synced.
    const bool all = informer != nullptr && informer->HasSynced() && queue_->initial_left() == 0;
    if (all) synced_.store(true, std::memory_order_relaxed);
    return all;
  }

  Status WaitForSync(Context& ctx) const override {
    if (synced_.load(std::memory_order_relaxed)) return {};
    const auto informer = informer_.lock();
    if (informer == nullptr) return Status::Unavailable("the informer has ended");
    // In this order, as in synced().
    COX_RETURN_IF_ERROR(informer->WaitSynced(ctx));
    COX_RETURN_IF_ERROR(queue_->WaitForInitial(ctx));
    synced_.store(true, std::memory_order_relaxed);
    return {};
  }

 private:
  const std::weak_ptr<ResourceInformer> informer_;
  const std::shared_ptr<DeltaQueue> queue_;
  mutable std::atomic<bool> synced_ = false;
};

class ResourceInformer::Observation final : public InformerHandle::Registration {
 public:
  Observation(std::weak_ptr<ResourceInformer> informer, uint64_t number)
      : informer_(std::move(informer)), number_(number) {}
  ~Observation() override {
    const auto informer = informer_.lock();
    if (informer == nullptr) return;
    MutexLock lock(informer->mu_);
    informer->observers_.erase(number_);
  }
  bool synced() const override { return true; }
  Status WaitForSync(Context&) const override { return {}; }

 private:
  const std::weak_ptr<ResourceInformer> informer_;
  const uint64_t number_;
};

ResourceInformer::ResourceInformer(const Resource& resource, bool metadata_only, CacheScope scope,
                                   Clock& clock, Clock::Duration default_resync,
                                   std::shared_ptr<Notification> resync_changed)
    : scope_(std::move(scope)),
      form_(std::make_shared<const ItemForm>(resource, metadata_only, scope_)),
      clock_(clock),
      default_resync_(default_resync),
      resync_changed_(std::move(resync_changed)),
      gone_(kGoneLimit),
      gone_names_(kGoneLimit),
      queues_(std::make_shared<const Queues>()) {}

ResourceInformer::~ResourceInformer() = default;

bool ResourceInformer::SyncedLocked() const {
  return std::all_of(feeds_.begin(), feeds_.end(),
                     [](const auto& feed) { return feed.second.synced; });
}

bool ResourceInformer::HasSynced() const {
  MutexLock lock(mu_);
  return SyncedLocked();
}

Status ResourceInformer::WaitSynced(Context& ctx) const {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(
      ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return ended_ || SyncedLocked(); }));
  if (SyncedLocked()) return {};
  return Status::Unavailable("the cache of " + resource().ToString() + " has ended unsynced");
}

std::string ResourceInformer::resource_version() const {
  MutexLock lock(mu_);
  const Feed* oldest = nullptr;
  for (const auto& [id, feed] : feeds_) {
    if (oldest == nullptr || feed.position < oldest->position) oldest = &feed;
  }
  return oldest == nullptr ? "" : oldest->version;
}

// --- Readers.

ObjectPtr ResourceInformer::Get(const ObjectKey& key) const {
  return indexer_.Get(key.ns, key.name).Read();
}

std::vector<ObjectPtr> ResourceInformer::List(std::string_view ns,
                                              const labels::Selector& labels) const {
  std::vector<ObjectPtr> out;
  if (labels.SelectsNothing()) return out;
  const std::vector<Item> items = indexer_.List(ns);
  listed_.fetch_add(items.size(), std::memory_order_relaxed);
  if (labels.Empty()) out.reserve(items.size());
  for (const Item& item : items) {
    if (item.Matches(labels)) out.push_back(item.Read());
  }
  return out;
}

void ResourceInformer::ForEach(std::string_view ns,
                               const std::function<bool(const ObjectPtr&)>& visit) const {
  size_t count = 0;
  for (const Item& item : indexer_.List(ns)) {
    ++count;
    if (!visit(item.Read())) break;
  }
  listed_.fetch_add(count, std::memory_order_relaxed);
}

std::vector<ObjectPtr> ResourceInformer::Find(std::string_view index,
                                              std::string_view value) const {
  std::vector<ObjectPtr> out;
  const std::vector<Item> items = indexer_.Find(index, value);
  listed_.fetch_add(items.size(), std::memory_order_relaxed);
  out.reserve(items.size());
  for (const Item& item : items) out.push_back(item.Read());
  return out;
}

void ResourceInformer::Visit(std::string_view index, std::string_view value,
                             const std::function<bool(const Object&)>& visit) const {
  size_t count = 0;
  indexer_.Visit(index, value, [&](const Item& item) {
    ++count;
    return visit(*item.Read());
  });
  listed_.fetch_add(count, std::memory_order_relaxed);
}

// --- Observers.

InformerHandle ResourceInformer::AddObserver(ChangeObserver observer) {
  MutexLock lock(mu_);
  observers_.emplace(++last_observer_, std::move(observer));
  return InformerHandle(std::make_unique<Observation>(weak_from_this(), last_observer_));
}

void ResourceInformer::BetweenChanges(const std::function<void()>& read) const {
  MutexLock lock(mu_);
  read();
}

void ResourceInformer::Observe(const Item& before, const Item& after) {
  if (observers_.empty()) return;
  const ObjectPtr old_object = before.Read();
  const ObjectPtr new_object = after.Read();
  for (const auto& [number, observer] : observers_) observer(old_object.get(), new_object.get());
}

// --- Handlers.

InformerHandle ResourceInformer::AddHandler(DeltaHandler handler, HandlerOptions options) {
  auto queue = std::make_shared<DeltaQueue>(std::move(handler));
  const Clock::Duration resync =
      options.resync > Clock::Duration() ? options.resync : default_resync_;
  {
    // Under the lock, so that no change is lost between the existing objects and later events.
    MutexLock lock(mu_);
    for (Item& item : indexer_.List("")) {
      queue->Push({.type = Delta::Type::kAdded,
                   .before = {},
                   .after = std::move(item),
                   .initial = true,
                   .own_writer = {}});
    }
    subscribers_.push_back({.queue = queue, .resync = resync, .due = NextResync(resync)});
    PublishQueues();
  }
  resync_changed_->Notify();
  queue->Drain();
  return InformerHandle(std::make_unique<Registration>(weak_from_this(), queue));
}

void ResourceInformer::Unregister(const DeltaQueue* queue) {
  MutexLock lock(mu_);
  std::erase_if(subscribers_, [queue](const Subscriber& s) { return s.queue.get() == queue; });
  PublishQueues();
}

void ResourceInformer::PublishQueues() {
  auto queues = std::make_shared<Queues>();
  for (const Subscriber& subscriber : subscribers_) queues->push_back(subscriber.queue);
  queues_ = std::move(queues);
}

void ResourceInformer::Push(const PendingDelta& delta) {
  for (const std::shared_ptr<DeltaQueue>& queue : *queues_) queue->Push(delta);
}

void ResourceInformer::Drain(const Queues& queues) {
  for (const std::shared_ptr<DeltaQueue>& queue : queues) queue->Drain();
}

void ResourceInformer::AddIndex(std::string name, IndexFunction function) {
  MutexLock lock(mu_);
  indexer_.AddIndex(std::move(name), std::move(function));
}

// Adds up to 10% so that handlers registered together do not resync at the same time.
Clock::SteadyTime ResourceInformer::NextResync(Clock::Duration every) const {
  if (every <= Clock::Duration()) return Clock::kNever;
  return clock_.In(every + every / 1000 * static_cast<int>(RandomBelow(100)));
}

Clock::SteadyTime ResourceInformer::Resync() {
  Queues due;
  Clock::SteadyTime next = Clock::kNever;
  {
    MutexLock lock(mu_);
    std::vector<Item> items;
    for (Subscriber& subscriber : subscribers_) {
      if (subscriber.due <= clock_.Monotonic()) {
        if (due.empty()) items = indexer_.List("");
        for (const Item& item : items) {
          subscriber.queue->Push(
              {.type = Delta::Type::kResync, .before = {}, .after = item, .own_writer = {}});
        }
        due.push_back(subscriber.queue);
        subscriber.due = NextResync(subscriber.resync);
      }
      next = std::min(next, subscriber.due);
    }
  }
  Drain(due);
  return next;
}

// --- Updates.

ResourceInformer::FeedId ResourceInformer::StartFeed(const std::string& ns) {
  MutexLock lock(mu_);
  feeds_[++last_feed_].ns = ns;
  return last_feed_;
}

void ResourceInformer::EndFeed(FeedId id) {
  std::shared_ptr<const Queues> queues;
  {
    MutexLock lock(mu_);
    const auto feed = feeds_.find(id);
    if (feed == feeds_.end()) return;
    const std::string ns = feed->second.ns;
    feeds_.erase(feed);
    // If another feed covers the namespace, the objects may belong to it; its list drops the rest.
    if (FeedOf(ns) == nullptr) {
      for (const Item& item : indexer_.List(ns)) {
        Drop(item, {.before = item, .after = {}, .missed = true, .own_writer = {}});
      }
    }
    changed_.NotifyAll();
    queues = queues_;
  }
  Drain(*queues);
}

void ResourceInformer::End() {
  MutexLock lock(mu_);
  ended_ = true;
  changed_.NotifyAll();
}

ResourceInformer::Feed* ResourceInformer::FeedOf(std::string_view ns) {
  for (auto& [id, feed] : feeds_) {
    if (feed.ns.empty() || feed.ns == ns) return &feed;
  }
  return nullptr;
}

Item ResourceInformer::Prepare(ObjectPtr object) const {
  const ObjectHead head = HeadOf(*object);
  Item kept = indexer_.Get(head.key.ns, head.key.name);
  if (head.version != 0 && kept.version() == head.version && kept.uid() == head.uid) {
    return kept;
  }
  return form_->Make(std::move(object));
}

Item ResourceInformer::Prepare(EncodedObjectPtr object) const {
  Item item = ItemForm::Share(std::move(object));
  Item kept = indexer_.Get(item.ns(), item.name());
  return kept.is_shared() && kept.IsVersionOf(item) ? kept : item;
}

// An own write is cached before its event arrives, in memory of its own. The object of the event
// replaces it.
void ResourceInformer::ShareKept(const Item& kept, const Item& item) {
  if (item.is_shared() && !kept.is_shared() && kept.IsVersionOf(item)) indexer_.Substitute(item);
}

void ResourceInformer::Keep(const Item& before, PendingDelta delta) {
  if (!before.empty() && before.uid() != delta.after.uid()) {
    // A new object with the same name: the deletion of the old one was missed.
    Push({.type = Delta::Type::kDeleted,
          .before = before,
          .after = {},
          .missed = true,
          .own_writer = {}});
    delta.own_writer.clear();
  } else if (!before.empty()) {
    delta.type = Delta::Type::kUpdated;
    delta.before = before;
    delta.initial = false;
  }
  indexer_.Put(form_->WithoutObject(delta.after));
  Observe(before, delta.after);
  Push(delta);
}

void ResourceInformer::Drop(const Item& before, PendingDelta delta) {
  indexer_.Remove(before.ns(), before.name());
  Observe(before, {});
  delta.type = Delta::Type::kDeleted;
  Push(delta);
}

bool ResourceInformer::Replace(FeedId id, std::vector<Item> items, const std::string& version,
                               bool newest) {
  std::shared_ptr<const Queues> queues;
  {
    MutexLock lock(mu_);
    const auto found = feeds_.find(id);
    if (found == feeds_.end() || ended_) return true;
    Feed& feed = found->second;
    const int64_t number = NumberOf(version);
    const bool back = number < feed.position;
    if (back && !newest) return false;
    DropAbsent(feed, items, back ? INT64_MAX : number);
    for (Item& item : items) {
      if (back) {
        gone_.Erase(item.uid());
        gone_names_.Erase(item.key().ToString());
      }
      if (HasTombstone(item)) continue;
      const Item before = indexer_.Get(item.ns(), item.name());
      if (!before.empty() &&
          (back ? item.version() == before.version() : !Newer(item.version(), before.version()))) {
        ShareKept(before, item);
        continue;
      }
      Keep(before,
           {.before = {}, .after = std::move(item), .initial = !feed.synced, .own_writer = {}});
    }
    feed.position = number;
    feed.version = version;
    feed.synced = true;
    changed_.NotifyAll();
    queues = queues_;
  }
  Drain(*queues);
  return true;
}

void ResourceInformer::DropAbsent(const Feed& feed, const std::vector<Item>& items,
                                  int64_t version) {
  const std::vector<Item> kept = indexer_.List(feed.ns);
  if (kept.empty()) return;
  std::unordered_map<std::string_view, std::unordered_set<std::string_view>> listed;
  for (const Item& item : items) listed[item.ns()].insert(item.name());
  for (const Item& item : kept) {
    if (item.version() > version) continue;  // an own write newer than the list
    const auto ns = listed.find(item.ns());
    if (ns != listed.end() && ns->second.contains(item.name())) continue;
    Drop(item, {.before = item, .after = {}, .missed = true, .own_writer = {}});
  }
}

void ResourceInformer::Apply(FeedId id, const ItemEvent& event) {
  const Item& item = event.item;
  std::shared_ptr<const Queues> queues;
  {
    MutexLock lock(mu_);
    const auto found = feeds_.find(id);
    if (found == feeds_.end() || ended_) return;
    Feed& feed = found->second;
    if (!item.empty() && event.type == EventType::kDeleted) {
      ApplyDeletion(item);
    } else if (!item.empty()) {
      ApplyChange(feed, item);
    }
    if (const int64_t number = NumberOf(event.version); number > feed.position) {
      feed.position = number;
      feed.version = event.version;
    }
    queues = queues_;
  }
  Drain(*queues);
}

bool ResourceInformer::HasTombstone(const Item& item) {
  if (gone_.size() == 0) return false;
  for (const int64_t* const until :
       {gone_.Find(item.uid()), gone_names_.Find(item.key().ToString())}) {
    if (until != nullptr && item.version() <= *until) return true;
  }
  return false;
}

void ResourceInformer::RecordTombstone(const ObjectKey& key, std::string_view uid,
                                       int64_t uid_until, int64_t name_until) {
  gone_.Put(std::string(uid), uid_until);
  const int64_t* const known = gone_names_.Find(key.ToString());
  gone_names_.Put(key.ToString(), std::max(name_until, known == nullptr ? 0 : *known));
}

void ResourceInformer::ApplyChange(const Feed& feed, const Item& item) {
  if (HasTombstone(item)) return;
  const Item before = indexer_.Get(item.ns(), item.name());
  if (before.empty() ? item.version() != 0 && item.version() < feed.position
                     : !Newer(item.version(), before.version())) {
    if (!before.empty()) ShareKept(before, item);
    return;
  }
  Keep(before, {.before = {}, .after = item, .own_writer = {}});
}

void ResourceInformer::ApplyDeletion(const Item& item) {
  const Item before = indexer_.Get(item.ns(), item.name());
  if (before.empty()) return;
  const bool same = before.uid() == item.uid();
  // The deletion also applies to an older object with the same name, but not to a newer one.
  if (item.version() != 0 &&
      (same ? item.version() < before.version() : item.version() <= before.version())) {
    return;
  }
  Drop(before, {.before = same ? item : before, .after = {}, .missed = !same, .own_writer = {}});
}

void ResourceInformer::ObserveWrite(ObjectPtr object, int64_t base, std::string_view writer) {
  const bool selected = form_->Selects(*object);  // before Convert, which may drop fields
  object = form_->Convert(std::move(object));
  if (object == nullptr) return;
  Item item = form_->Make(std::move(object));
  if (item.version() == 0) return;
  std::shared_ptr<const Queues> queues;
  {
    MutexLock lock(mu_);
    const Feed* const feed = FeedOf(item.ns());
    if (feed == nullptr || HasTombstone(item)) return;
    const Item before = indexer_.Get(item.ns(), item.name());
    // If the object is not cached but the feed has passed its version, it has been deleted since.
    if (item.version() <= (before.empty() ? feed->position : before.version())) return;
    const bool known = base >= 0 && base == (before.empty() ? 0 : before.version());
    PendingDelta delta{.before = {}, .after = {}, .own_writer = known ? std::string(writer) : ""};
    if (selected) {
      delta.after = std::move(item);
      Keep(before, std::move(delta));
    } else {
      RecordTombstone(item.key(), item.uid(), item.version(), item.version());
      delta.before = before;
      if (!before.empty()) Drop(before, std::move(delta));
    }
    queues = queues_;
  }
  Drain(*queues);
}

void ResourceInformer::ObserveDelete(const ObjectKey& key, std::string_view uid) {
  if (uid.empty()) return;  // unknown object: wait for the watch event
  std::shared_ptr<const Queues> queues;
  {
    MutexLock lock(mu_);
    if (FeedOf(key.ns) == nullptr) return;
    const Item before = indexer_.Get(key.ns, key.name);
    RecordTombstone(key, uid, INT64_MAX, before.uid() == uid ? before.version() : 0);
    if (before.empty() || before.uid() != uid) return;
    Drop(before, {.before = before, .after = {}, .own_writer = {}});
    queues = queues_;
  }
  Drain(*queues);
}

}  // namespace cox::sdk
