// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "coxswain/object_key.h"

namespace cox::controllers::pods {

// How long to let events about the Pods of a large set gather before it is looked at again.
//
// Each look costs as much as there are Pods, and mostly a write of the status. A set of 2,000 whose
// Pods start at 500 a second would be looked at without a pause; so large sets wait, in proportion
// to their size, at most a quarter of a second. Small ones never wait, nor does what users change
// (the generation).
// Threads: all methods may be called concurrently.
class Pacer {
 public:
  explicit Pacer(const Clock& clock) : clock_(clock) {}

  // 0: now.
  Clock::Duration WaitFor(const ObjectKey& key, int64_t generation, size_t pods) const;
  // Looked at, at this generation, and nothing is left to do for now.
  // About a small set nothing is kept.
  void Settled(const ObjectKey& key, int64_t generation, size_t pods = SIZE_MAX);
  void Forget(const ObjectKey& key);  // it is gone, or there is more to do at once

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
