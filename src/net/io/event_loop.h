// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace cox::net {

class EventLoop;

// A task that other threads enqueue repeatedly, for example to wake a stream. It is an intrusive
// list node, so Enqueue allocates nothing, and it is in the list at most once.
class LoopTask : public std::enable_shared_from_this<LoopTask> {
 public:
  virtual ~LoopTask() = default;

 protected:
  friend class EventLoop;
  // Called on the loop's thread, at least once after each EventLoop::Enqueue.
  virtual void Run() = 0;

 private:
  std::atomic<bool> queued_ = false;
  // Both belong to the thread that set queued_, until the loop dequeues the task.
  LoopTask* next_ = nullptr;
  std::shared_ptr<LoopTask> self_;
};

// Has output to write after the current batch of tasks, so that many woken streams of one
// connection share one write.
class Flushable : public std::enable_shared_from_this<Flushable> {
 public:
  virtual ~Flushable() = default;
  virtual void Flush() = 0;

 private:
  friend class EventLoop;
  bool flush_queued_ = false;
};

// One thread that serves many connections (an Asio io_context), and their shared buffers.
//
// Threads: Enqueue, Post, RunFiber and InLoop from any thread; the rest on the loop's thread.
// Lifetime: Start, then Stop, which waits for the fibers and joins. Tasks enqueued or posted after
//   Stop are dropped, so a task may hold a reference to a stopped loop.
class EventLoop : public std::enable_shared_from_this<EventLoop> {
 public:
  // Plaintext passed to TLS at once; also the approximate limit of output buffered for a peer that
  // does not read.
  static constexpr size_t kOutputChunk = 32 * 1024;
  static constexpr size_t kInputChunk = 64 * 1024;

  explicit EventLoop(Clock& clock);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  Status Start(const std::string& name);
  // Returns when all fibers have finished, so the contexts they wait in must have stopped.
  // REQUIRES: not called on the loop's thread.
  void Stop();
  // For tests and fuzzers: the calling thread becomes the loop thread and drives the loop with
  // Poll.
  void AdoptThisThread();
  void Poll();

  void Enqueue(std::shared_ptr<LoopTask> task);
  void Post(std::function<void()> work);
  bool InLoop() const {
    return thread_id_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  // Runs `work` in a fiber of the loop. If the caller is on the loop's thread and not in a fiber,
  // it starts immediately, and this returns when it waits for the first time or has finished.
  // Otherwise the loop starts it soon.
  void RunFiber(std::function<void()> work);
  // The loop that runs the calling fiber; null outside of fibers of loops.
  static EventLoop* OfFiber();

  void FlushSoon(Flushable& what);

  boost::asio::io_context& io() { return io_; }
  Clock& clock() { return clock_; }
  // Scratch buffers for the connection that is currently served.
  std::vector<char>& received() { return received_; }
  std::vector<char>& plain() { return plain_; }
  std::string& cipher() { return cipher_; }
  // The current time as "Sun, 06 Nov 1994 08:49:37 GMT", formatted once per second.
  const std::string& HttpDate();

 private:
  class LoopFiber;

  void RunTasks();
  void RunFlushes();
  void Continue(LoopFiber& fiber);

  Clock& clock_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::atomic<LoopTask*> tasks_ = nullptr;  // newest first; Closed() once stopped
  std::atomic<std::thread::id> thread_id_{};
  // Loop thread only.
  std::vector<std::shared_ptr<Flushable>> flushes_;
  bool batching_ = false;
  size_t fibers_ = 0;      // not finished
  bool stopping_ = false;  // stops when no fiber is left
  std::vector<char> received_;
  std::vector<char> plain_;
  std::string cipher_;
  std::string date_;
  int64_t date_second_ = 0;
  std::thread thread_;
};

}  // namespace cox::net
