// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "coxswain/object_key.h"

namespace cox::controllers::pods {

// Limits how often the status of a large set is written, or a large set is synced, so that changes
// of its Pods are batched.
//
// Each write is also an update for etcd, for all watchers and for the controller of the owner. A
// set of 15,000 whose Pods start at 500 per second would be written continuously. Therefore large
// sets wait in proportion to their size, at most a second. Small sets never wait, and neither does
// the first change after a pause, nor a new generation.
//
// Threads: all methods may be called concurrently.
class Pacer {
 public:
  explicit Pacer(const Clock& clock) : clock_(clock) {}

  // Returns 0 if the set can be written or synced now.
  Clock::Duration WaitFor(const ObjectKey& key, int64_t generation) const;
  // Records a write or sync of a set of this size. Nothing is stored for small sets.
  void Settled(const ObjectKey& key, int64_t generation, size_t pods);
  void Forget(const ObjectKey& key);  // the set is gone, or needs another sync immediately

 private:
  struct Last {
    Clock::SteadyTime until;
    int64_t generation = 0;
  };
  const Clock& clock_;
  mutable Mutex mu_;
  std::unordered_map<ObjectKey, Last> last_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers::pods
