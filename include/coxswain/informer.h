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

// One change of one object, as handlers see it.
struct Delta {
  enum class Type : uint8_t {
    kAdded,    // `after`
    kUpdated,  // `before`, `after`
    kDeleted,  // `before`: as it was last known
    kResync,   // `after`, which has not changed: look again whether the world is as it says
  };
  Type type = Type::kAdded;
  ObjectPtr before;
  ObjectPtr after;
  // Part of the first list, not news. Controllers handle it with low priority.
  bool initial = false;
  // Of a deletion that was found out later, by a list: `before` may be older than what was deleted.
  bool missed = false;
  // The writer (Context value kWriter) if this is a write of this process through the Manager's
  // client, based on the version that the cache had: nothing that the writer does not know.
  std::string_view own_writer;

  const ObjectPtr& object() const { return after != nullptr ? after : before; }
};
using DeltaHandler = std::function<void(const Delta&)>;

// The key of the Context value by which own writes are told apart; controllers set their name.
inline constexpr std::string_view kWriter = "controller";

struct HandlerOptions {
  // Calls the handler for each object this often (up to a tenth later), changed or not. 0: as the
  // cache is told (CacheOptions::resync).
  Clock::Duration resync = {};
};

// A registered handler or index. Dropping it unregisters: after that the handler does not run.
// Never drop it in its own handler. May outlive the informer.
class [[nodiscard]] InformerHandle {
 public:
  class Registration {
   public:
    virtual ~Registration() = default;
    virtual bool synced() const = 0;
  };
  InformerHandle() = default;
  explicit InformerHandle(std::unique_ptr<Registration> registration)
      : registration_(std::move(registration)) {}

  // True when the handler has been called for every object of the first list.
  bool synced() const { return registration_ != nullptr && registration_->synced(); }

 private:
  std::unique_ptr<Registration> registration_;
};

// The values under which an index finds an object; none: it is not found by that index.
using IndexFunction = std::function<std::vector<std::string>(const Object&)>;

// A copy of one resource (or a part of it) in memory that follows the server: list, then watch,
// and again from where it was when a watch ends, however it ends.
//
// Guarantees
//   - Objects only get newer: neither a reader nor a handler ever sees an older version after a
//     newer one, not after reconnects, not with several API servers.
//   - Own writes through the Manager's client are there when the call returns.
//   - A handler sees the changes of one object in order, each add before its updates and its
//     deletion. A handler that is slow sees several updates of one object as one; it never misses
//     an add, a deletion, or the last state.
//   - What is in the cache is complete once HasSynced(); it stays usable, and gets older, while the
//     server is away.
// Threads: all methods may be called concurrently. Handlers run on the informer's thread or, for
//   own writes, on the writer's; one call per handler at a time. They only enqueue: one that blocks
//   holds up its informer, one that throws ends the program.
// Ownership: objects are shared and immutable.
class SharedInformer {
 public:
  virtual ~SharedInformer() = default;

  virtual const Resource& resource() const = 0;
  virtual bool HasSynced() const = 0;
  virtual Status WaitSynced(Context& ctx) const = 0;

  // At any time. The handler is first called for each object that is there (initial).
  virtual InformerHandle AddHandler(DeltaHandler handler, HandlerOptions options = {}) = 0;
  // At any time; the index covers what is there when this returns. An index of that name replaces
  // the one there was.
  virtual void AddIndex(std::string name, IndexFunction function) = 0;

  // Null if there is none.
  virtual ObjectPtr Get(const ObjectKey& key) const = 0;
  // Of one namespace, or all (""); in no given order.
  virtual std::vector<ObjectPtr> List(std::string_view ns,
                                      const labels::Selector& labels) const = 0;
  // REQUIRES: the index was added (else: nothing is found).
  virtual std::vector<ObjectPtr> Find(std::string_view index, std::string_view value) const = 0;
  virtual size_t size() const = 0;
  // Up to which version of the resource this is complete; empty before the first list.
  virtual std::string resource_version() const = 0;
  // What the objects take in memory, about.
  virtual size_t bytes() const = 0;

  // An own write: `object` as the server answered; `base`: the version it has replaced, 0 for none,
  // if the server has made sure of that. For the Manager's client.
  static constexpr int64_t kUnknownBase = -1;
  virtual void ObserveWrite(ObjectPtr object, int64_t base, std::string_view writer) = 0;
  virtual void ObserveDelete(const ObjectKey& key, std::string_view uid) = 0;
};

// Called with structs.
template <class T>
struct EventHandler {
  using Ptr = std::shared_ptr<const T>;
  std::function<void(const Ptr& object)> on_add;
  std::function<void(const Ptr& before, const Ptr& after)> on_update;
  std::function<void(const Ptr& last)> on_delete;
};

// A SharedInformer whose objects are structs. A handle: copies are the same informer.
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
