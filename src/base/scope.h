// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/status.h"

namespace cox {

// The background work that something started, so that none of it outlives its owner.
//
//   class Informer {
//     ...
//    private:
//     Store store_;
//     Scope scope_;       // the last member: joined before what the work uses is destroyed
//   };
//   scope_.Go("reflector", [this](Context& ctx) { ListAndWatch(ctx); });
//   ...
//   scope_.Stop();        // asked
//   scope_.Wait();        // draining, then done
//
// Guarantees: each piece of work runs on a thread of its own with a child of the scope's context,
// which
//   stops when the scope is asked to stop or the parent context stops. Wait() returns when all of
//   it has returned and its threads are joined. Destroying a scope whose work runs and was not
//   asked to stop ends the process: its owner forgot it. Work that was asked to stop is waited for
//   by the destructor.
// Threads: all methods may be called concurrently, also by the work itself (except Wait()).
class Scope {
 public:
  Scope(const Context& parent, std::string name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Starts `work`. Unavailable, with nothing started, once the scope was asked to stop or when the
  // system has no thread left. The thread is named after `name`; see ThreadName.
  Status Go(std::string name, std::function<void(Context&)> work);

  // Asks all work to stop, and lets none start. Does not wait.
  void Stop(Status why = Context::Canceled());

  // Returns when no work is left. Does not ask it to stop.
  // REQUIRES: not called by the scope's own work (that would wait for itself: ends the process).
  void Wait();
  // The same until `limit` stops; then the reason, with the names of the work that still runs.
  Status Wait(const Context& limit);

  // The three facts of stopping. asked: somebody wants it to end. draining: asked, and work still
  // runs. done: asked, and nothing runs any more nor ever will.
  bool asked() const { return context_.Done(); }
  bool draining() const;
  bool done() const;

  const std::string& name() const { return name_; }
  // The context that the work's contexts are children of.
  const Context& context() const { return context_; }
  // What runs now, in the order it was started.
  std::vector<std::string> Running() const;

 private:
  struct Task {
    std::string name;
    std::thread thread;
    bool finished = false;
  };

  void Run(Task& task, std::function<void(Context&)> work);
  void CheckNotOwnThread() const COX_REQUIRES(mu_);
  std::vector<std::string> RunningLocked() const COX_REQUIRES(mu_);
  // The finished ones, taken off the list; to be joined without the lock.
  std::list<Task> TakeFinished() COX_REQUIRES(mu_);

  const std::string name_;
  Context context_;
  mutable Mutex mu_;
  CondVar ended_;
  size_t running_ COX_GUARDED_BY(mu_) = 0;
  std::list<Task> tasks_ COX_GUARDED_BY(mu_);
};

// `name` within the 15 bytes that Linux keeps. A longer one keeps its start and its end, where
// numbers are: "scheduler-worker-12" becomes "schedul~rker-12".
std::string ThreadName(std::string_view name);

}  // namespace cox
