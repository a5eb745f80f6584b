// SPDX-License-Identifier: Apache-2.0
#include "base/scope.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/strings.h"

namespace cox {

std::string ThreadName(std::string_view name) {
  constexpr size_t kMax = 15;
  constexpr size_t kEnd = kMax / 2;
  if (name.size() <= kMax) return std::string(name);
  std::string cut(name.substr(0, kMax - 1 - kEnd));
  cut += '~';
  cut += name.substr(name.size() - kEnd);
  return cut;
}

Scope::Scope(const Context& parent, std::string name)
    : name_(std::move(name)), context_(parent.Child()) {}

Scope::~Scope() {
  {
    MutexLock lock(mu_);
    COX_CHECK(running_ == 0 || stop_requested())
        << "scope " << Quote(name_)
        << " is destroyed while nobody asked its work to stop: " << Join(RunningLocked(), ", ");
  }
  Wait();
}

Status Scope::Go(std::string name, std::function<void(Context&)> work) {
  std::list<Task> finished;
  Status started;
  {
    MutexLock lock(mu_);
    if (stop_requested()) return context_.status().WithContext("scope " + name_ + " is stopping");
    // Joins here, so that a scope with a task for each connection does not accumulate finished
    // threads.
    finished = TakeFinished();
    Task& task = tasks_.emplace_back(Task{std::move(name), {}, false});
    try {
      task.thread = std::thread(
          [this, &task, work = std::move(work)]() mutable { Run(task, std::move(work)); });
      ++running_;
    } catch (const std::system_error& error) {
      started =
          Status::Unavailable("cannot start thread " + Quote(task.name) + ": " + error.what());
      tasks_.pop_back();
    }
  }
  for (Task& task : finished) task.thread.join();
  return started;
}

void Scope::Run(Task& task, std::function<void(Context&)> work) {
  pthread_setname_np(pthread_self(), ThreadName(task.name).c_str());
  {
    Context context = context_.Child();
    work(context);
    work = nullptr;  // destroys its captures before the task counts as finished
  }
  MutexLock lock(mu_);
  task.finished = true;
  --running_;
  ended_.NotifyAll();
}

void Scope::Stop(Status why) { context_.Stop(std::move(why)); }

void Scope::Wait() {
  std::list<Task> finished;
  {
    MutexLock lock(mu_);
    CheckNotOwnThread();
    ended_.Wait(mu_, [this]() COX_REQUIRES(mu_) { return running_ == 0; });
    finished = TakeFinished();
  }
  for (Task& task : finished) task.thread.join();
}

Status Scope::Wait(const Context& limit) {
  {
    MutexLock lock(mu_);
    CheckNotOwnThread();
    const Status status =
        limit.Await(mu_, ended_, [this]() COX_REQUIRES(mu_) { return running_ == 0; });
    if (!status.ok()) {
      return status.WithContext("scope " + name_ + " waits for " + Join(RunningLocked(), ", "));
    }
  }
  Wait();
  return {};
}

bool Scope::draining() const {
  MutexLock lock(mu_);
  return stop_requested() && running_ > 0;
}

bool Scope::done() const {
  MutexLock lock(mu_);
  return stop_requested() && running_ == 0;
}

std::vector<std::string> Scope::Running() const {
  MutexLock lock(mu_);
  return RunningLocked();
}

std::vector<std::string> Scope::RunningLocked() const {
  std::vector<std::string> names;
  for (const Task& task : tasks_) {
    if (!task.finished) names.push_back(task.name);
  }
  return names;
}

void Scope::CheckNotOwnThread() const {
  for (const Task& task : tasks_) {
    COX_CHECK(task.thread.get_id() != std::this_thread::get_id())
        << Quote(task.name) << " waits for its own scope " << Quote(name_);
  }
}

std::list<Scope::Task> Scope::TakeFinished() {
  std::list<Task> finished;
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto next = std::next(task);
    // A task that starts another one does not join itself, because it has not finished.
    if (task->finished) finished.splice(finished.end(), tasks_, task);
    task = next;
  }
  return finished;
}

}  // namespace cox
