// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "base/mutex.h"
#include "coxswain/informer.h"
#include "sdk/cache/item.h"

namespace cox::sdk {

// A Delta that waits for its handler, of objects as they are kept.
struct PendingDelta {
  Delta::Type type = Delta::Type::kAdded;
  Item before;
  Item after;
  bool initial = false;
  bool missed = false;
  std::string own_writer;

  const Item& item() const { return after.empty() ? before : after; }
};

// What one handler has not seen yet, and the calls of it.
//
// Changes of one object that wait are merged where that hides nothing: an add with its updates,
// updates with each other, any of those with the deletion that ends them; but an add and its
// deletion stay two, as do a deletion and the add of what came after. They keep the place of the
// first.
//
// No thread of its own: who pushed drains; who finds another draining leaves it the work.
// Guarantees: one call of the handler at a time, in order, without a lock. After Close() none.
// Threads: all methods may be called concurrently. The order of pushes is the caller's to keep.
class DeltaQueue {
 public:
  DeltaQueue(std::shared_ptr<const ItemForm> form, DeltaHandler handler)
      : form_(std::move(form)), handler_(std::move(handler)) {}

  void Push(PendingDelta delta);
  void Drain();
  // Drops what waits and returns when the handler does not run any more (at once if called by it).
  void Close();
  // Objects of first lists that the handler has not been called for.
  size_t initial_left() const;

 private:
  struct Node {
    std::string key;
    PendingDelta delta;
  };
  using Nodes = std::list<Node>;

  // True if `next` went into `last`, which waits for the same object.
  static bool Merge(PendingDelta& last, PendingDelta& next);
  void Call(const PendingDelta& delta) const noexcept;

  const std::shared_ptr<const ItemForm> form_;
  const DeltaHandler handler_;
  mutable Mutex mu_;
  CondVar idle_;
  Nodes pending_ COX_GUARDED_BY(mu_);
  // The last that waits of each object; the key is the node's own.
  std::unordered_map<std::string_view, Nodes::iterator> last_ COX_GUARDED_BY(mu_);
  size_t initial_left_ COX_GUARDED_BY(mu_) = 0;
  bool draining_ COX_GUARDED_BY(mu_) = false;
  std::thread::id drainer_ COX_GUARDED_BY(mu_);
  bool closed_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::sdk
