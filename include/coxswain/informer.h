// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/object_key.h"
#include "coxswain/resource.h"
#include "object/selector/labels.h"

namespace cox {

// One change of an object, as passed to handlers.
struct Delta {
  enum class Type : uint8_t {
    kAdded,    // `after`
    kUpdated,  // `before`, `after`
    kDeleted,  // `before`: the last known state
    kResync,   // `after`, unchanged: for a periodic reconcile
  };
  Type type = Type::kAdded;
  ObjectPtr before;
  ObjectPtr after;
  // Part of the initial list. Controllers process it with low priority.
  bool initial = false;
  // A deletion detected by a later list: `before` may be older than the deleted version.
  bool missed = false;
  // The writer (Context value kWriter) if this change is a write of this process through the
  // Manager's client, based on the cached version, so that it contains no other change.
  std::string_view own_writer;

  const ObjectPtr& object() const { return after != nullptr ? after : before; }
};
using DeltaHandler = std::function<void(const Delta&)>;

// Key of the Context value that identifies own writes; controllers set it to their name.
inline constexpr std::string_view kWriter = "controller";

struct HandlerOptions {
  // Calls the handler for each object at this interval (up to a tenth later), changed or not. 0:
  // CacheOptions::resync.
  Clock::Duration resync = {};
};

// A registered handler. Destroying it unregisters the handler, which does not run afterwards. Do
// not destroy it inside its own handler. May outlive the informer.
class [[nodiscard]] InformerHandle {
 public:
  class Registration {
   public:
    virtual ~Registration() = default;
    virtual bool synced() const = 0;
    virtual Status WaitForSync(Context& ctx) const = 0;
  };
  InformerHandle() = default;
  explicit InformerHandle(std::unique_ptr<Registration> registration)
      : registration_(std::move(registration)) {}

  // True after the handler has been called for every object of the initial list.
  bool synced() const { return registration_ != nullptr && registration_->synced(); }
  // Blocks until synced(). Do not call it inside a handler of the same informer.
  // Errors: the Status of `ctx` if it stops first; Unavailable if the informer ends first;
  //   BadRequest for an empty handle.
  Status WaitForSync(Context& ctx) const {
    if (registration_ == nullptr) return Status::BadRequest("no handler is registered");
    return registration_->WaitForSync(ctx);
  }

 private:
  std::unique_ptr<Registration> registration_;
};

// Receives one change of the cache; null: the object did not exist before, or does not exist after.
using ChangeObserver = std::function<void(const Object* before, const Object* after)>;

// Returns the index values of an object; none: the index does not contain the object.
using IndexFunction = std::function<std::vector<std::string>(const Object&)>;

// An in-memory copy of a resource (or a part of it), maintained by list and watch. After a watch
// ends, it resumes from the last resourceVersion, or lists again if that has expired.
//
// Guarantees
//   - Versions only increase: neither readers nor handlers receive an older version of an object
//     after a newer one, even after reconnects or with several API servers.
//   - Own writes through the Manager's client are visible when the call returns.
//   - A handler receives the changes of an object in order, the add before updates and the
//     deletion. For a slow handler, several updates of an object are combined into one; it never
//     misses an add, a deletion, or the last state.
//   - The cache is complete once HasSynced() is true. While the server is unavailable it can still
//     be read, but becomes stale.
// Threads: all methods may be called concurrently. Handlers run on the informer's thread or, for
//   own writes, on the writer's; each handler has at most one call at a time. Handlers should only
//   enqueue: a blocking handler delays its informer, and an exception ends the program.
// Ownership: objects are shared and immutable.
class SharedInformer {
 public:
  virtual ~SharedInformer() = default;

  virtual const Resource& resource() const = 0;
  virtual bool HasSynced() const = 0;
  virtual Status WaitSynced(Context& ctx) const = 0;

  // May be called at any time. The handler is first called for each existing object (initial).
  virtual InformerHandle AddHandler(DeltaHandler handler, HandlerOptions options = {}) = 0;
  // Calls `observer` for each later change at the moment when it is applied, while handlers may run
  // later: for counters that must agree with the cache, for example after an own write. The
  // observer runs under the informer's lock; it must be short and must not call the informer. After
  // the handle is destroyed, it does not run.
  virtual InformerHandle AddObserver(ChangeObserver observer) = 0;
  // Calls `read` while no change is applied and no observer runs, to fill what an observer updates.
  // `read` may call only Get, List, ForEach, Find and Visit.
  virtual void BetweenChanges(const std::function<void()>& read) const = 0;
  // May be called at any time; existing objects are indexed when it returns. Replaces an index of
  // the same name.
  virtual void AddIndex(std::string name, IndexFunction function) = 0;

  // Null if the object does not exist.
  virtual ObjectPtr Get(const ObjectKey& key) const = 0;
  // Objects of one namespace, or of all (""), in unspecified order.
  virtual std::vector<ObjectPtr> List(std::string_view ns,
                                      const labels::Selector& labels) const = 0;
  // As List for many objects: calls `visit` for each of them until it returns false. `visit` runs
  // without a lock, and only one object at a time needs to be decoded.
  virtual void ForEach(std::string_view ns,
                       const std::function<bool(const ObjectPtr&)>& visit) const = 0;
  // Returns nothing if the index was not added.
  virtual std::vector<ObjectPtr> Find(std::string_view index, std::string_view value) const = 0;
  // As Find, without copies: calls `visit` for each object until it returns false. `visit` runs
  // under a lock; it must be short and must not call the informer.
  virtual void Visit(std::string_view index, std::string_view value,
                     const std::function<bool(const Object&)>& visit) const = 0;
  virtual size_t size() const = 0;
  // The resourceVersion that the cache reflects; empty before the initial list.
  virtual std::string resource_version() const = 0;
  // Approximate memory use of the objects.
  virtual size_t bytes() const = 0;

  // Records an own write. `object` is the server's response; `base` is the version that it replaced
  // (0 for none) if the server verified it, otherwise kUnknownBase. Used by the Manager's client.
  static constexpr int64_t kUnknownBase = -1;
  virtual void ObserveWrite(ObjectPtr object, int64_t base, std::string_view writer) = 0;
  virtual void ObserveDelete(const ObjectKey& key, std::string_view uid) = 0;
};

// Typed handler functions.
template <class T>
struct EventHandler {
  using Ptr = std::shared_ptr<const T>;
  std::function<void(const Ptr& object)> on_add;
  std::function<void(const Ptr& before, const Ptr& after)> on_update;
  std::function<void(const Ptr& last)> on_delete;
};

// A typed view of a SharedInformer. Copies refer to the same informer.
template <class T>
class Informer {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Informer(std::shared_ptr<SharedInformer> shared) : shared_(std::move(shared)) {}

  SharedInformer& shared() const { return *shared_; }
  bool HasSynced() const { return shared_->HasSynced(); }
  Status WaitSynced(Context& ctx) const { return shared_->WaitSynced(ctx); }

  InformerHandle AddHandler(EventHandler<T> handler, HandlerOptions options = {}) const {
    return shared_->AddHandler(
        [handler = std::move(handler)](const Delta& delta) {
          switch (delta.type) {
            case Delta::Type::kAdded:
              if (handler.on_add) handler.on_add(As<T>(delta.after));
              break;
            case Delta::Type::kUpdated:
              if (handler.on_update) handler.on_update(As<T>(delta.before), As<T>(delta.after));
              break;
            case Delta::Type::kResync:
              if (handler.on_update) handler.on_update(As<T>(delta.after), As<T>(delta.after));
              break;
            case Delta::Type::kDeleted:
              if (handler.on_delete) handler.on_delete(As<T>(delta.before));
              break;
          }
        },
        options);
  }

 private:
  std::shared_ptr<SharedInformer> shared_;
};

}  // namespace cox
