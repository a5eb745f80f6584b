// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/context.h"
#include "base/result.h"

namespace cox::storage {

// The store's logical clock: each write gets a larger revision. It is the API's resourceVersion.
using Revision = int64_t;

// A key and its value. `value` is opaque here: the bytes of the object as stored in etcd.
struct KeyValue {
  std::string key;
  Bytes value;
  Revision revision = 0;  // of the last write to the key
  // The value is stored in an outdated form (encrypted with an old key, or not encrypted), so an
  // update must rewrite it even if nothing else changes.
  bool stale = false;
};

struct Page {
  std::vector<KeyValue> items;  // by key
  Revision revision = 0;        // of the store at the time of the read: the list's resourceVersion
  bool more = false;            // more keys follow the last item
  int64_t count = 0;            // total number of keys in the range, including those not returned
};

struct ListOptions {
  Revision at = 0;         // revision to read at; 0: latest (linearizable)
  int64_t limit = 0;       // 0: all
  std::string start;       // the first key to return, inclusive; empty: from the beginning
  bool keys_only = false;  // values stay empty
};

// The outcome of a conditional write. On a conflict with another writer, `written` is false and
// `current` is the stored key, so that the caller can retry without another read.
struct WriteResult {
  bool written = false;
  Revision revision = 0;            // of the write
  std::optional<KeyValue> current;  // if not written; none: the key does not exist
};

// A second key that must have a given revision for a write to succeed, for example the Lease of the
// leader that writes.
struct Guard {
  std::string key;
  Revision revision = 0;  // of its last write
};

struct GuardedWrite {
  std::string_view key;
  std::optional<std::string_view> value;  // none: the key is deleted
  Revision expected = 0;                  // of the key now; 0: it does not exist
  std::chrono::seconds ttl{0};
};

struct Event {
  enum class Type : uint8_t { kPut, kDelete };
  Type type = Type::kPut;
  KeyValue kv;           // for a deletion: the key and the revision of the deletion
  bool created = false;  // for a put: the key did not exist before
};

// A batch of watch events, ordered by revision; all changes of one revision are in the same batch.
// A batch without events is a progress notification: no other change up to `revision`.
struct WatchBatch {
  std::vector<Event> events;
  Revision revision = 0;  // every change up to here has been delivered
};

// A running watch. Destroying it cancels the watch.
class Watch {
 public:
  virtual ~Watch() = default;
  // Blocks until there is a batch. Errors: Expired if the start revision is compacted; Unavailable
  // if the connection to the store is lost (restart the watch from the last revision seen).
  virtual Result<WatchBatch> Next(Context& ctx) = 0;
  // Requests a batch with the current revision even if nothing changes.
  virtual Status RequestProgress() = 0;
};

// A versioned, watchable key-value store with opaque values: the API server's storage backend.
//
// Guarantees: writes are linearizable; each write gets a larger revision than all before; a List or
//   Get with `at` 0 sees every write that was acknowledged before the call; a watch started after
//   revision R delivers every later change under its prefix once, in order.
// Threads: all methods may be called concurrently. They block until `ctx` ends at the latest.
// Errors: AlreadyExists (Create), Expired (`at` was compacted), Timeout, Unavailable. A write that
//   ends with Timeout or Unavailable may or may not have been applied. TooLarge: the value exceeds
//   the store's size limit.
// Keys begin with '/'. Prefixes end with '/'.
class Store {
 public:
  virtual ~Store() = default;

  // Writes a new key. With a `ttl` the key expires about that much later.
  virtual Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                                  std::chrono::seconds ttl = {}) = 0;
  // Linearizable. `kv` is empty if the key does not exist; `revision` is the store's.
  struct GetResult {
    std::optional<KeyValue> kv;
    Revision revision = 0;
  };
  virtual Result<GetResult> Get(Context& ctx, std::string_view key) = 0;
  virtual Result<Page> List(Context& ctx, std::string_view prefix, const ListOptions& options) = 0;
  // Replaces the value if the key's revision still is `expected`.
  virtual Result<WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                                     Revision expected, std::chrono::seconds ttl = {}) = 0;
  // Removes the key if its revision still is `expected`.
  virtual Result<WriteResult> Delete(Context& ctx, std::string_view key, Revision expected) = 0;

  // Like Create, Update or Delete, in one transaction with a check of `guard`. If the guard has
  // another revision, nothing is written, and `current` is the stored key, even if it has the
  // expected revision.
  virtual Result<WriteResult> WriteGuarded(Context& ctx, const GuardedWrite& write,
                                           const Guard& guard) = 0;
  // Identifies the keyspace that the store writes to. A guard can be a key of any Store with the
  // same keyspace.
  virtual const void* key_space() const = 0;

  // Changes under `prefix` with a revision larger than `after`.
  virtual Result<std::unique_ptr<Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                                    Revision after) = 0;
  // The current revision of the store, linearizable.
  virtual Result<Revision> CurrentRevision(Context& ctx) = 0;
  // Discards the history before `revision`: reads and watches from there are Expired.
  virtual Status Compact(Context& ctx, Revision revision) = 0;
  // OK if the store responds. Used by /readyz and /livez.
  virtual Status Healthy(Context& ctx) = 0;
};

// Whether a write to `store` can be guarded by a key of `guarding`.
inline bool CanGuard(const Store& store, const Store& guarding) {
  return store.key_space() == guarding.key_space();
}

}  // namespace cox::storage
