// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/scope.h"
#include "coxswain/client.h"

namespace cox::sdk {

// Tells when one of a few objects may have changed.
//
// Not an informer: nothing is listed or kept, and each object is watched by its name, for which a
// role that names that one object is enough.
//
// Guarantees: `changed` is called after each change, also after those that happened while a watch
//   was down; sometimes without a change.
// Threads: `changed` is called on a thread per object; it must not block.
// Lifetime: no call runs, nor will, when the destructor has returned. The client outlives it.
class ObjectWatches {
 public:
  ObjectWatches(const Context& ctx, Client& client,
                std::vector<std::pair<Resource, ObjectKey>> objects, std::function<void()> changed);
  ~ObjectWatches();

 private:
  void Follow(Context& ctx, const Resource& resource, const ObjectKey& key);

  Client& client_;
  const std::function<void()> changed_;
  Scope scope_;
};

}  // namespace cox::sdk
