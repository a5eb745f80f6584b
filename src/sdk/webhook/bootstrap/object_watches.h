// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/scope.h"
#include "coxswain/client.h"

namespace cox::sdk {

// Notifies about possible changes of a few objects.
//
// Unlike an informer, it neither lists nor caches, and watches each object by name, so that RBAC
// rules with resourceNames are sufficient.
//
// Guarantees: `changed` is called after each change, including changes while a watch was down; it
//   may also be called without a change.
// Threads: `changed` is called on one thread per object; it must not block.
// Lifetime: after the destructor returns, `changed` is not called. The client must outlive this
//   object.
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
