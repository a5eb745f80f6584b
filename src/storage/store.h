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

// The store's logical time: each write makes a larger one. It is the resourceVersion of the API.
using Revision = int64_t;

// What is stored under a key. `value` is opaque here: the object's bytes as they rest in etcd.
struct KeyValue {
  std::string key;
  Bytes value;
  Revision revision = 0;  // of the last write to the key
  // It rests in a form that is no longer the one to write: an old encryption key, none at all. Who
  // updates it writes it anew even if nothing else changes.
  bool stale = false;
};

struct Page {
  std::vector<KeyValue> items;  // by key
  Revision revision = 0;        // of the store when it was read: the list's resourceVersion
  bool more = false;            // there are keys after the last item
  int64_t count = 0;            // keys in the range altogether, also those not returned
};

struct ListOptions {
  Revision at = 0;         // read the store as it was; 0: as it is now (linearizable)
  int64_t limit = 0;       // 0: all
  std::string start;       // the first key to return, inclusive; empty: from the beginning
  bool keys_only = false;  // values stay empty
};

// The outcome of a write that depends on a revision. Somebody was faster: `written` is false and
// `current` what is there instead, so that the caller can try again without another read.
struct WriteResult {
  bool written = false;
  Revision revision = 0;            // of the write
  std::optional<KeyValue> current;  // if not written; none: the key does not exist
};

// Another key that must have a certain revision when something is written: the Lease of the leader
// that writes.
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
  KeyValue kv;           // of a deletion: the key and the revision of the deletion
  bool created = false;  // of a put: the key did not exist before
};

// What a watch brings: changes in the order of their revisions, all changes of one revision
// together; or, without events, the news that nothing else happened up to `revision`.
struct WatchBatch {
  std::vector<Event> events;
  Revision revision = 0;  // every change up to here has been delivered
};

// A running watch. Dropping it cancels.
class Watch {
 public:
  virtual ~Watch() = default;
  // Blocks until there is news. Expired when the revision to start from is compacted; Unavailable
  // when the store is gone (start anew from the last revision seen).
  virtual Result<WatchBatch> Next(Context& ctx) = 0;
  // Asks for a batch that tells the current revision, even if nothing changes.
  virtual Status RequestProgress() = 0;
};

// A versioned, watchable set of keys with opaque values: what the API server keeps its state in.
//
// Guarantees: writes are linearizable; each write gets a larger revision than all before; a List or
//   Get with `at` 0 sees every write that was acknowledged before it was called; a watch started
//   after revision R brings every later change under its prefix once, in order.
// Threads: all methods may be called concurrently. They block, no longer than `ctx` lasts.
// Errors: AlreadyExists (Create), Expired (`at` was compacted), Timeout, Unavailable. A write that
//   ends with Timeout or Unavailable may or may not have happened. TooLarge: the value is larger
//   than the store takes.
// Keys begin with '/'. Prefixes end with '/'.
class Store {
 public:
  virtual ~Store() = default;

  // Writes a new key. With `ttl` the key goes away by itself about that much later.
  virtual Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                                  std::chrono::seconds ttl = {}) = 0;
  // Linearizable. The value is none if there is no such key; `revision` is the store's.
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

  // Like Create, Update or Delete, in one step with a check of `guard`. If the guard has another
  // revision, nothing is written, and `current` is the key as it is, whether that was expected or
  // not.
  virtual Result<WriteResult> WriteGuarded(Context& ctx, const GuardedWrite& write,
                                           const Guard& guard) = 0;
  // Identifies the set of keys that the store writes: a guard can be a key of any Store with the
  // same set.
  virtual const void* key_space() const = 0;

  // Changes under `prefix` with a revision larger than `after`.
  virtual Result<std::unique_ptr<Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                                    Revision after) = 0;
  // The revision of the store now, linearizable.
  virtual Result<Revision> CurrentRevision(Context& ctx) = 0;
  // Forgets what was before `revision`: reads and watches from there are Expired.
  virtual Status Compact(Context& ctx, Revision revision) = 0;
  // OK if the store answers: what /readyz and /livez ask.
  virtual Status Healthy(Context& ctx) = 0;
};

// Whether a write of `store` can depend on a key of `guarding`.
inline bool CanGuard(const Store& store, const Store& guarding) {
  return store.key_space() == guarding.key_space();
}

}  // namespace cox::storage
