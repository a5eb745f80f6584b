// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

#include "apiserver/registry/strategy.h"
#include "storage/guarded_writes.h"

namespace cox::apiserver {

// What a write depends on besides its own object: that its writer still leads.
// Threads: all methods may be called concurrently.
class Fence {
 public:
  virtual ~Fence() = default;
  // OK if it does at this moment (linearizable): then the key that changes before that does. Else
  // the answer to the writer.
  virtual Result<storage::Guard> Check(Context& ctx) const = 0;
  // Where that key is.
  virtual storage::Store& store() const = 0;
};

// The writes of a Store, which happen only while w.fence, if there is one, holds: in one step where
// the store can do that and keeps the fence's key too, else checked right before.
Result<storage::Revision> CreateFenced(const WriteContext& w, storage::Store& store,
                                       std::string_view key, std::string_view value,
                                       std::chrono::seconds ttl);
Result<storage::WriteResult> UpdateFenced(const WriteContext& w, storage::Store& store,
                                          std::string_view key, std::string_view value,
                                          storage::Revision expected, std::chrono::seconds ttl);
Result<storage::WriteResult> DeleteFenced(const WriteContext& w, storage::Store& store,
                                          std::string_view key, storage::Revision expected);

}  // namespace cox::apiserver
