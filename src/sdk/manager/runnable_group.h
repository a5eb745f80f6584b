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

// A group of runnables that start and stop together.
//
// Guarantees: a runnable added before Start starts with it, a later one starts immediately. Stop
//   returns when all have ended or `limit` stops.
// Threads: all methods may be called concurrently.
// Errors: `on_error` receives the error or exception, with its name, of a runnable that ends before
//   it was stopped.
class RunnableGroup {
 public:
  RunnableGroup(std::string name, std::function<void(Status)> on_error);

  // Unavailable after Stop.
  Status Add(std::string name, Runnable runnable);
  Status Start(const Context& ctx);
  // Stops all runnables and waits for them. Timeout, with the names of those still running, if
  // `limit` stops first; the destructor waits for them.
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
