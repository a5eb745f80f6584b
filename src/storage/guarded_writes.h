// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "storage/store.h"

namespace cox::storage {

// Another key that must be as it was when something is written: the Lease by which the writer
// leads.
struct Guard {
  std::string key;
  Revision revision = 0;  // of its last write
};

struct GuardedWrite {
  std::string_view key;
  std::optional<std::string_view> value;  // none: the key is removed
  Revision expected = 0;                  // of the key now; 0: it does not exist
  std::chrono::seconds ttl{0};
};

// What a Store can do besides: a write that depends on two keys, in one step.
//
// Threads, errors: as Store.
class GuardedWrites {
 public:
  virtual ~GuardedWrites() = default;
  // As Store's Create, Update and Delete, if `guard` holds at that very moment. If it does not,
  // nothing is written, and `current` is the key as it is, be it as expected or not.
  virtual Result<WriteResult> Write(Context& ctx, const GuardedWrite& write,
                                    const Guard& guard) = 0;
  // Which set of keys it writes: guards can be keys of any Store with the same.
  virtual const void* keys() const = 0;

  // What `store` can do of it; null: nothing.
  static GuardedWrites* Of(Store& store) { return dynamic_cast<GuardedWrites*>(&store); }
};

// Whether a write of `store` can depend on a key of `guarding`.
inline bool CanGuard(Store& store, Store& guarding) {
  const GuardedWrites* writes = GuardedWrites::Of(store);
  const GuardedWrites* guards = GuardedWrites::Of(guarding);
  return writes != nullptr && guards != nullptr && writes->keys() == guards->keys();
}

}  // namespace cox::storage
