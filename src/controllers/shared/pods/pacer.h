// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "coxswain/object_key.h"

namespace cox::controllers::pods {

// Limits the sync rate of large sets, so that events of their Pods are batched.
//
// The cost of a sync is linear in the number of Pods, and most syncs write the status. A set of
// 2,000 whose Pods start at 500 per second would be synced continuously. Therefore large sets wait
// in proportion to their size, at most 250 ms. Small sets never wait, and neither do changes of the
// generation.
//
// Threads: all methods may be called concurrently.
class Pacer {
 public:
  explicit Pacer(const Clock& clock) : clock_(clock) {}

  // Returns 0 if the set can be synced now.
  Clock::Duration WaitFor(const ObjectKey& key, int64_t generation, size_t pods) const;
  // Records a completed sync of this generation. Nothing is stored for small sets.
  void Settled(const ObjectKey& key, int64_t generation, size_t pods = SIZE_MAX);
  void Forget(const ObjectKey& key);  // the set is gone, or needs another sync immediately

 private:
  struct Last {
    Clock::SteadyTime time;
    int64_t generation = 0;
  };
  const Clock& clock_;
  mutable Mutex mu_;
  std::unordered_map<ObjectKey, Last> last_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers::pods
