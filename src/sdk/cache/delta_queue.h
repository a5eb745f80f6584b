// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "base/context.h"
#include "base/mutex.h"
#include "base/status.h"
#include "coxswain/informer.h"
#include "sdk/cache/item.h"

namespace cox::sdk {

// A Delta that waits for its handler, in cached form.
struct PendingDelta {
  Delta::Type type = Delta::Type::kAdded;
  Item before;
  Item after;
  bool initial = false;
  bool missed = false;
  std::string own_writer;

  const Item& item() const { return after.empty() ? before : after; }
};

// The pending deltas of one handler, and their delivery.
//
// Pending changes of one object are merged: an add with its updates, updates with each other,
// updates with the following deletion. An add and its deletion stay separate, as do a deletion and
// a following add. A merged delta keeps the position of the first one.
//
// There is no thread: the thread that pushed calls Drain; if another thread is draining, that
// thread delivers the delta.
// Guarantees: one call of the handler at a time, in order, without a lock held. No calls after
//   Close().
// Threads: all methods may be called concurrently. The caller must order the pushes.
class DeltaQueue {
 public:
  explicit DeltaQueue(DeltaHandler handler) : handler_(std::move(handler)) {}

  void Push(PendingDelta delta);
  void Drain();
  // Drops pending deltas and waits until the handler has returned (does not wait if called by it).
  void Close();
  // Objects of initial lists that have not been delivered yet.
  size_t initial_left() const;
  // Blocks until initial_left() is 0. Returns the reason if `ctx` stops first.
  Status WaitForInitial(Context& ctx) const;

 private:
  struct Node {
    std::string key;
    PendingDelta delta;
  };
  using Nodes = std::list<Node>;

  // True if `next` was merged into `last`, the pending delta of the same object.
  static bool Merge(PendingDelta& last, PendingDelta& next);
  void Call(const PendingDelta& delta) const noexcept;

  const DeltaHandler handler_;
  mutable Mutex mu_;
  CondVar idle_;
  mutable CondVar initial_delivered_;
  Nodes pending_ COX_GUARDED_BY(mu_);
  // The last pending delta of each object; the key refers to the node's string.
  std::unordered_map<std::string_view, Nodes::iterator> last_ COX_GUARDED_BY(mu_);
  size_t initial_left_ COX_GUARDED_BY(mu_) = 0;
  bool draining_ COX_GUARDED_BY(mu_) = false;
  std::thread::id drainer_ COX_GUARDED_BY(mu_);
  bool closed_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::sdk
