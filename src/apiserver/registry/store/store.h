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

// What a kind may do around its writes, where more than the object itself is touched: Services take
// addresses and ports. Undone unless Commit is called.
class WriteTransaction {
 public:
  virtual ~WriteTransaction() = default;
  virtual void Commit() = 0;
};
class WriteHooks {
 public:
  virtual ~WriteHooks() = default;
  // May change `object`. Null: nothing to undo.
  virtual Result<std::unique_ptr<WriteTransaction>> BeforeCreate(const WriteContext& w,
                                                                 Object& object) = 0;
  virtual Result<std::unique_ptr<WriteTransaction>> BeforeUpdate(const WriteContext& w,
                                                                 Object& object,
                                                                 const Object& old) = 0;
  virtual void AfterDelete(const WriteContext& w, const Object& object) = 0;
};

// The judge of an object that is about to be stored: validating admission. Null: everything goes.
using Judge = std::function<Status(const Object& object, const Object* old)>;

// All objects of one resource: the generic part of every kind.
//
// Writes keep the API's promises: names and uids, optimistic locking by resourceVersion,
// generation, finalizers and graceful deletion, nothing written when nothing changed. Objects given
// and returned are of the hub kind, with metadata.resourceVersion set to the revision they were
// stored at. Threads: all methods may be called concurrently. They block for storage.
class ResourceStore {
 public:
  struct Options {
    const Strategy* strategy = nullptr;  // outlives the store
    storage::Store* storage = nullptr;
    storage::WatchCache* cache = nullptr;  // may be null: reads go to storage
    WriteHooks* hooks = nullptr;
    std::string root = "/registry";
    // How long objects live, where their kind says that they do not live for ever; 0: as it says.
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

  // The object in its hub form, defaults set, resourceVersion filled in.
  Result<Object> Decode(std::string_view value, storage::Revision revision) const;
  // What selectors look at; nothing for an object that cannot be decoded.
  void ReadHead(std::string_view value, storage::HeadBuilder& head) const;
  // As the cache would hold it, for what was read from storage.
  storage::EntryPtr MakeEntry(const storage::KeyValue& kv) const;
  // The bytes that rest in storage: without the revision, which is the store's to know. The object
  // is as before when it returns.
  std::string Encode(Object& object) const;

  // Linearizable unless `from_cache`. NotFound.
  Result<Object> Get(Context& ctx, std::string_view ns, std::string_view name,
                     bool from_cache = false) const;
  Result<storage::KeyValue> GetStored(Context& ctx, std::string_view ns,
                                      std::string_view name) const;

  Result<Object> Create(const WriteContext& w, Object object, const Judge& judge,
                        Warnings* warnings = nullptr);

  // Makes the new object from the one that is stored (null: there is none). Called again when
  // somebody else was faster.
  using Change = std::function<Result<Object>(const Object* existing)>;
  struct UpdateRequest {
    std::string ns, name;
    const UpdateStrategy* how = nullptr;  // null: the kind's own
    Change change;
    Judge judge;              // of updates
    Judge create_judge;       // where the update creates
    std::string uid;          // must be the stored object's; empty: any
    bool may_create = false;  // server-side apply; PUT of kinds that allow it
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
                              meta::v1::DeleteOptions options, const Judge& judge);

 private:
  // A writer that loses this often gives up: the object is written faster than it can be changed.
  static constexpr int kMaxRaces = 64;

  struct Stored {
    Object object;
    storage::Revision revision;
    Bytes bytes;  // as they rest
    bool fresh;   // read from storage, not from the cache
    bool stale;   // to be written anew, if fresh; see storage::KeyValue
  };

  // The resource as the writer knows it, for errors.
  Resource NamedFor(const WriteContext& w) const {
    return w.served_as == nullptr ? resource() : Resource{w.served_as->group, w.served_as->plural};
  }
  Result<Stored> Read(Context& ctx, const std::string& key, std::string_view name,
                      bool allow_cached) const;
  // For a name that is in use, by something that may be on its way out.
  Status TakenError(const WriteContext& w, const std::string& name,
                    const storage::KeyValue& by) const;
  Result<Object> CreateOnce(const WriteContext& w, Object object, const Judge& judge,
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
  Status CheckPreconditions(const meta::v1::DeleteOptions& options, const Object& object) const;
  // Brings the object's finalizers and deletion marks up to what `options` ask for. True if it must
  // be stored instead of removed.
  bool BeginDeletion(const WriteContext& w, meta::v1::DeleteOptions& options, Object& object) const;
  // Answers with `last`: the stored object with the marks of its deletion.
  Result<DeleteResult> Remove(const WriteContext& w, const std::string& key, const Stored& stored,
                              Object last, bool* raced);

  Options options_;
  std::string prefix_;
  storage::EntryClassPtr entry_class_;  // of entries that are not the cache's
};

// metadata.resourceVersion as a number: 0 for none. An error without a reason (500), as upstream's,
// for what is no number.
Result<storage::Revision> ParseResourceVersion(std::string_view text);

}  // namespace cox::apiserver
