// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "storage/store.h"

namespace cox::storage {

// Reads the current revision of the store, and batches concurrent callers.
//
// Guarantees: the result is from a read that began after Read() was called, so it covers every
//   write acknowledged before. All callers that arrive during a read share the next one.
// Threads: all methods may be called concurrently. The read runs on the thread of one of the
//   waiting callers.
// Errors: the store's; Timeout if it does not respond.
// Ownership: shared by the caches of one store; the store outlives it.
class RevisionReader {
 public:
  // `ctx` limits the reads instead of a caller's context, which may end while others wait.
  RevisionReader(const Context& ctx, Store& store) : ctx_(ctx), store_(store) {}

  Result<Revision> Read(Context& ctx);

 private:
  // The callers that share one read.
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
