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

// A group of background threads that does not outlive its owner.
//
//   class Informer {
//     ...
//    private:
//     Store store_;
//     Scope scope_;       // the last member: joined before the other members are destroyed
//   };
//   scope_.Go("reflector", [this](Context& ctx) { ListAndWatch(ctx); });
//   ...
//   scope_.Stop();        // requests the stop
//   scope_.Wait();        // draining, then done
//
// Guarantees: each task runs on its own thread with a child of the scope's context, which stops
//   when Stop() is called or the parent context stops. Wait() returns when all tasks have returned
//   and their threads are joined. Destroying a scope with running tasks that were not stopped
//   aborts the process, because it is a bug of the owner. After Stop(), the destructor waits for
//   the tasks.
// Threads: all methods may be called concurrently, also by the tasks (except Wait()).
class Scope {
 public:
  Scope(const Context& parent, std::string name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Starts `work`. Unavailable, with nothing started, after Stop() or when the system has no thread
  // left. The thread is named after `name`; see ThreadName.
  Status Go(std::string name, std::function<void(Context&)> work);

  // Stops the contexts of all tasks, and rejects new ones. Does not wait.
  void Stop(Status why = Context::Canceled());

  // Returns when no task is left. Does not stop them.
  // REQUIRES: not called by a task of the scope (a deadlock: aborts the process).
  void Wait();
  // The same until `limit` stops; then returns its error with the names of the running tasks.
  Status Wait(const Context& limit);

  // The states of a shutdown. asked: a stop was requested. draining: asked, and tasks still run.
  // done: asked, and no task runs or will run.
  bool stop_requested() const { return context_.Done(); }
  bool draining() const;
  bool done() const;

  const std::string& name() const { return name_; }
  // The parent of the tasks' contexts.
  const Context& context() const { return context_; }
  // The names of the running tasks, in the order of their start.
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
  // Removes finished tasks from the list; the caller joins them without the lock.
  std::list<Task> TakeFinished() COX_REQUIRES(mu_);

  const std::string name_;
  Context context_;
  mutable Mutex mu_;
  CondVar ended_;
  size_t running_ COX_GUARDED_BY(mu_) = 0;
  std::list<Task> tasks_ COX_GUARDED_BY(mu_);
};

// `name` shortened to Linux's limit of 15 bytes. Keeps the start and the end, which often contains
// a number: "scheduler-worker-12" becomes "schedul~rker-12".
std::string ThreadName(std::string_view name);

}  // namespace cox
