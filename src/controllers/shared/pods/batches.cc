// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/batches.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace cox::controllers::pods {

// Shared with the helper threads. A helper that starts after the batch is done finds no number left
// and does not use `work`, whose lifetime has ended.
struct Batches::Batch {
  Batch(size_t begin, size_t end, const std::function<Status(size_t)>& lent)
      : last(end), work(lent), next(begin), running(0), failed_at(end) {}

  void Help() {
    MutexLock lock(mu);
    while (next < last) {
      const size_t number = next++;
      ++running;
      lock.Unlock();
      Status status = work(number);
      lock.Lock();
      --running;
      if (status.ok()) {
        ++succeeded;
      } else if (number < failed_at) {
        failed_at = number;
        error = std::move(status);
      }
    }
    if (running == 0) done.NotifyAll();
  }

  const size_t last;
  const std::function<Status(size_t)>& work;
  Mutex mu;
  CondVar done;
  size_t next COX_GUARDED_BY(mu);
  size_t running COX_GUARDED_BY(mu);
  size_t succeeded COX_GUARDED_BY(mu) = 0;
  size_t failed_at COX_GUARDED_BY(mu);
  Status error COX_GUARDED_BY(mu);
};

Batches::Batches(const Context& ctx, std::string name, size_t parallel)
    : parallel_(parallel), pool_(ctx, {.name = std::move(name), .max_threads = parallel}) {}

Batches::Outcome Batches::SlowStart(size_t count, const std::function<Status(size_t)>& work) {
  Outcome outcome;
  for (size_t size = 1; outcome.tried < count && outcome.error.ok(); size *= 2) {
    const size_t begin = outcome.tried;
    RunBatch(begin, begin + std::min(size, count - begin), work, outcome);
  }
  return outcome;
}

void Batches::RunBatch(size_t begin, size_t end, const std::function<Status(size_t)>& work,
                       Outcome& outcome) {
  const auto batch = std::make_shared<Batch>(begin, end, work);
  const size_t helpers = std::min(parallel_, end - begin - 1);
  for (size_t i = 0; i < helpers; ++i) {
    if (!pool_.Submit([batch] { batch->Help(); })) break;  // the caller processes the rest
  }
  batch->Help();
  MutexLock lock(batch->mu);
  batch->done.Wait(batch->mu, [&]() COX_NO_THREAD_SAFETY_ANALYSIS { return batch->running == 0; });
  outcome.tried += end - begin;
  outcome.succeeded += batch->succeeded;
  outcome.error = std::move(batch->error);
}

}  // namespace cox::controllers::pods
