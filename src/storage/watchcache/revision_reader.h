// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "storage/store.h"

namespace cox::storage {

// Asks the store for its revision on behalf of many at once.
//
// Guarantees: the answer comes from a read that began after Read() was called, so it covers every
//   write acknowledged before. All who come while one read is under way share the next one.
// Threads: all methods may be called concurrently. The read runs on the thread of one of those who
//   wait for it.
// Errors: the store's; Timeout when it does not answer.
// Ownership: shared by the caches of one store; the store outlives it.
class RevisionReader {
 public:
  // `ctx` bounds the reads, not the callers': one of them may give up while others wait.
  RevisionReader(const Context& ctx, Store& store) : ctx_(ctx), store_(store) {}

  Result<Revision> Read(Context& ctx);

 private:
  // Those who share one read.
  struct Round {
    std::optional<Result<Revision>> answer;
  };

  const Context ctx_;
  Store& store_;
  Mutex mu_;
  CondVar changed_;
  bool reading_ COX_GUARDED_BY(mu_) = false;
  std::shared_ptr<Round> next_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::storage
