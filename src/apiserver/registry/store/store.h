// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/meta/v1.h"
#include "apiserver/registry/store/errors.h"
#include "apiserver/registry/store/strategy.h"
#include "storage/store.h"
#include "storage/watchcache/entry.h"
#include "storage/watchcache/watch_cache.h"

namespace cox::apiserver {

// Side effects of a write outside of the object: Services allocate addresses and ports. They are
// undone unless Commit is called.
class WriteTransaction {
 public:
  virtual ~WriteTransaction() = default;
  virtual void Commit() = 0;
};
class WriteHooks {
 public:
  virtual ~WriteHooks() = default;
  // May change `object`. Returns null if there is nothing to undo.
  virtual Result<std::unique_ptr<WriteTransaction>> BeforeCreate(const WriteContext& w,
                                                                 Object& object) = 0;
  virtual Result<std::unique_ptr<WriteTransaction>> BeforeUpdate(const WriteContext& w,
                                                                 Object& object,
                                                                 const Object& old) = 0;
  virtual void AfterDelete(const WriteContext& w, const Object& object) = 0;
};

// Validating admission of an object that is about to be stored. Null: none.
using ValidateFunc = std::function<Status(const Object& object, const Object* old)>;

// All objects of one resource: the generic part of every kind.
//
// Guarantees: writes follow the API conventions: names and uids, optimistic locking by
//   resourceVersion, generation, finalizers and graceful deletion, no write when nothing has
//   changed. Objects that are passed in and returned are of the hub kind, with
//   metadata.resourceVersion set to the revision at which they were stored.
// Threads: all methods may be called concurrently. They block for storage.
class ResourceStore {
 public:
  struct Options {
    const Strategy* strategy = nullptr;  // outlives the store
    storage::Store* storage = nullptr;
    storage::WatchCache* cache = nullptr;  // may be null: reads go to storage
    WriteHooks* hooks = nullptr;
    std::string root = "/registry";
    // Overrides the strategy's TtlSeconds where that is not 0; 0: no override.
    std::chrono::seconds ttl{0};
  };
  explicit ResourceStore(Options options);

  const Strategy& strategy() const { return *options_.strategy; }
  const KindInfo& kind() const { return options_.strategy->kind(); }
  Resource resource() const { return {kind().group, kind().plural}; }
  storage::WatchCache* cache() const { return options_.cache; }
  storage::Store& storage() const { return *options_.storage; }
  void set_hooks(WriteHooks* hooks) { options_.hooks = hooks; }
  void set_cache(storage::WatchCache* cache) { options_.cache = cache; }

  // "/registry/pods/" or "/registry/pods/default/", and "/registry/pods/default/web".
  std::string Prefix(std::string_view ns) const;
  std::string Key(std::string_view ns, std::string_view name) const;
  const std::string& root_prefix() const { return prefix_; }

  // The object in its hub version, with defaults and resourceVersion set.
  Result<Object> Decode(std::string_view value, storage::Revision revision) const;
  // Makes an entry, as in the cache, from a value that was read from storage.
  storage::EntryPtr MakeEntry(const storage::KeyValue& kv) const;
  // The bytes to store, without metadata.resourceVersion. `object` is unchanged on return.
  std::string Encode(Object& object) const;

  // Linearizable unless `from_cache`. Errors: NotFound.
  Result<Object> Get(Context& ctx, std::string_view ns, std::string_view name,
                     bool from_cache = false) const;
  Result<storage::KeyValue> GetStored(Context& ctx, std::string_view ns,
                                      std::string_view name) const;

  Result<Object> Create(const WriteContext& w, Object object, const ValidateFunc& validate,
                        Warnings* warnings = nullptr);

  // Makes the new object from the stored one (null: there is none). Called again after a write
  // conflict.
  using Change = std::function<Result<Object>(const Object* existing)>;
  struct UpdateRequest {
    std::string ns, name;
    const UpdateStrategy* how = nullptr;  // null: the kind's own
    Change change;
    ValidateFunc validate;         // for updates
    ValidateFunc validate_create;  // if the update creates the object
    std::string uid;               // must be the stored object's; empty: any
    bool may_create = false;       // server-side apply; PUT of kinds that allow it
    Warnings* warnings = nullptr;
  };
  struct UpdateResult {
    Object object;
    bool created = false;
  };
  Result<UpdateResult> Update(const WriteContext& w, const UpdateRequest& request);

  struct DeleteResult {
    Object object;
    bool gone = false;  // false: it waits for finalizers or its grace period
  };
  Result<DeleteResult> Delete(const WriteContext& w, std::string_view ns, std::string_view name,
                              const meta::v1::DeleteOptions& options, const ValidateFunc& validate);
  // Conflict if the object does not fulfil the preconditions of a deletion.
  Status CheckPreconditions(const meta::v1::DeleteOptions& options, const Object& object) const;

 private:
  // An update gives up after this many write conflicts.
  static constexpr int kMaxRaces = 64;

  struct Stored {
    Object object;
    storage::Revision revision;
    Bytes bytes;  // as stored
    bool fresh;   // read from storage, not from the cache
    bool stale;   // must be rewritten even if unchanged; see storage::KeyValue
  };

  // The resource as the request names it, for errors.
  Resource RequestedResource(const WriteContext& w) const {
    return w.served_as == nullptr ? resource() : Resource{w.served_as->group, w.served_as->plural};
  }
  Result<Stored> Read(Context& ctx, const std::string& key, std::string_view name,
                      bool allow_cached) const;
  // AlreadyExists, with another text if the existing object is being deleted.
  Status NameInUseError(const WriteContext& w, const std::string& name,
                        const storage::KeyValue& by) const;
  Result<Object> CreateOnce(const WriteContext& w, Object object, const ValidateFunc& validate,
                            Warnings* warnings);
  Status PrepareCreate(const WriteContext& w, Object& object, Warnings* warnings) const;
  Status PrepareUpdate(const WriteContext& w, const UpdateRequest& request, Object& object,
                       const Object& old) const;
  Status CheckVersion(const WriteContext& w, const UpdateRequest& request, const Object& object,
                      const Object& old) const;
  Result<UpdateResult> Write(const WriteContext& w, const std::string& key, Object object,
                             const Stored& old, bool* raced);
  bool KeptByFinalizers(const Object& object) const;
  std::chrono::seconds TtlOf(const Object& object) const;

  // Deletion, in store_delete.cc.
  // Changes to an object for a DELETE request.
  enum class Deletion {
    kUnchanged,  // the deletion has begun, and the request does not shorten its grace period
    kMarked,     // the object must be written with its finalizers and deletion metadata
    kRemovable,  // nothing keeps the object
  };
  Deletion BeginDeletion(const WriteContext& w, const meta::v1::DeleteOptions& options,
                         Object& object) const;
  // BeginDeletion for kinds that are deleted after a grace period.
  Deletion BeginGracefulDeletion(const WriteContext& w, const meta::v1::DeleteOptions& options,
                                 Object& object) const;
  // Returns `last`, the stored object with its deletion metadata.
  Result<DeleteResult> Remove(const WriteContext& w, const std::string& key, const Stored& stored,
                              Object last, bool* raced);
  // Removes an object that this request has written with an ended grace period.
  Result<DeleteResult> RemoveMarked(const WriteContext& w, const std::string& key,
                                    meta::v1::DeleteOptions options, Object marked);

  Options options_;
  std::string prefix_;
  storage::EntryClassPtr entry_class_;  // for entries outside of the cache
};

// metadata.resourceVersion as a number; 0 if it is empty. For other text an error without a reason
// (500), as upstream.
Result<storage::Revision> ParseResourceVersion(std::string_view text);

}  // namespace cox::apiserver
