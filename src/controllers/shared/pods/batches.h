// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "base/worker_pool.h"

namespace cox::controllers::pods {

// Sends many similar requests in parallel, starting with small batches.
//
// An exhausted quota or an invalid template makes every request fail. The batches of 1, 2, 4, 8 ...
// stop after the first one with a failure, so that such a set costs the API server one request per
// sync instead of hundreds.
//
// Threads: all methods may be called concurrently; callers share the worker threads.
class Batches {
 public:
  // At most `parallel` requests at once, in addition to those on the callers' threads.
  Batches(const Context& ctx, std::string name, size_t parallel = 16);

  struct Outcome {
    size_t succeeded = 0;
    size_t tried = 0;
    Status error;  // the error with the lowest number
  };
  // Calls `work` with 0 .. count-1 in growing batches. Returns when all started calls have
  // returned.
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
