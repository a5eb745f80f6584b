// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/scope.h"
#include "coxswain/manager.h"

namespace cox::sdk {

// Runnables that begin and end together.
//
// Guarantees: one that is added before Start begins with it, one that is added later at once.
//   Stop returns when all have ended, or the limit has come.
// Threads: all methods may be called concurrently.
// Errors: of a runnable that ended although nobody asked it to go to `on_error`, with its name;
//   also what it threw.
class RunnableGroup {
 public:
  RunnableGroup(std::string name, std::function<void(Status)> on_error);

  // Unavailable after Stop.
  Status Add(std::string name, Runnable runnable);
  Status Start(const Context& ctx);
  // Asks all to end and waits for it. Timeout, with the names of those that still run, when `limit`
  // stops first; the destructor waits for them still.
  Status Stop(const Context& limit);

 private:
  Status Go(Scope& scope, std::string name, Runnable runnable);

  const std::string name_;
  const std::function<void(Status)> on_error_;
  Mutex mu_;
  bool stopped_ COX_GUARDED_BY(mu_) = false;
  std::vector<std::pair<std::string, Runnable>> pending_ COX_GUARDED_BY(mu_);
  std::unique_ptr<Scope> scope_ COX_GUARDED_BY(mu_);  // null until Start; set once
};

}  // namespace cox::sdk
