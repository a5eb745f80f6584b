// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "base/worker_pool.h"

namespace cox::controllers::pods {

// Makes many requests of one kind: several at once, and first a few, to see whether they succeed.
//
// A quota that is used up or a template that is refused fails every request. Batches of 1, 2, 4, 8
// ... end with the first in which one fails, so such a set costs the server one request a sync and
// not hundreds.
// Threads: all methods may be called concurrently; callers share the threads.
class Batches {
 public:
  // At most `parallel` requests at once besides the callers' own.
  Batches(const Context& ctx, std::string name, size_t parallel = 16);

  struct Outcome {
    size_t succeeded = 0;
    size_t tried = 0;
    Status error;  // of the first that failed, by number
  };
  // Calls `work` with 0 .. count-1, in growing batches. Returns when all that was begun has ended.
  Outcome SlowStart(size_t count, const std::function<Status(size_t)>& work);

 private:
  struct Batch;
  // Runs `work` for begin .. end-1, adding to `outcome`.
  void RunBatch(size_t begin, size_t end, const std::function<Status(size_t)>& work,
                Outcome& outcome);

  const size_t parallel_;
  WorkerPool pool_;
};

}  // namespace cox::controllers::pods
