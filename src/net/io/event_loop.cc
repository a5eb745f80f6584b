// SPDX-License-Identifier: Apache-2.0
#include "net/io/event_loop.h"

#include <pthread.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <ctime>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/fiber.h"
#include "base/scope.h"

namespace cox::net {
namespace {

thread_local EventLoop* loop_of_fiber = nullptr;

// The list head after Stop: nothing can be added any more. Never dereferenced.
LoopTask* Closed() {
  static char mark;
  return reinterpret_cast<LoopTask*>(&mark);
}

}  // namespace

// A fiber of a loop. It keeps itself alive until it has finished.
class EventLoop::LoopFiber final : public LoopTask, public Fiber {
 public:
  LoopFiber(EventLoop& loop, std::function<void()> work) : Fiber(std::move(work)), loop_(loop) {}

  std::shared_ptr<LoopTask> self;

 private:
  void Run() override { loop_.Continue(*this); }
  void MakeReady() override { loop_.Enqueue(self); }

  EventLoop& loop_;  // does not stop before its fibers have finished
};

EventLoop::EventLoop(Clock& clock)
    : clock_(clock),
      io_(1),
      work_(io_.get_executor()),
      received_(kInputChunk),
      plain_(kOutputChunk) {}

EventLoop::~EventLoop() { Stop(); }

Status EventLoop::Start(const std::string& name) {
  try {
    thread_ = std::thread([this] {
      thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      io_.run();
    });
  } catch (const std::system_error& error) {
    return Status::Unavailable(std::string("starting a thread: ") + error.what());
  }
  pthread_setname_np(thread_.native_handle(), ThreadName(name).c_str());
  return {};
}

void EventLoop::Stop() {
  if (thread_.joinable()) {
    Post([this] {
      stopping_ = true;
      if (fibers_ == 0) io_.stop();
    });
    thread_.join();
  }
  work_.reset();
  io_.stop();
  COX_CHECK(fibers_ == 0) << "an event loop stops before " << fibers_ << " of its fibers";
  LoopTask* task = tasks_.exchange(Closed(), std::memory_order_acq_rel);
  while (task != nullptr && task != Closed()) {
    const std::shared_ptr<LoopTask> keep = std::move(task->self_);
    task = task->next_;
  }
  flushes_.clear();
}

void EventLoop::AdoptThisThread() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

void EventLoop::Poll() {
  io_.restart();
  io_.poll();
}

void EventLoop::Enqueue(std::shared_ptr<LoopTask> task) {
  LoopTask* const raw = task.get();
  if (raw->queued_.exchange(true, std::memory_order_acq_rel)) return;
  raw->self_ = std::move(task);
  LoopTask* head = tasks_.load(std::memory_order_relaxed);
  do {
    if (head == Closed()) {
      const std::shared_ptr<LoopTask> drop = std::move(raw->self_);
      return;
    }
    raw->next_ = head;
  } while (!tasks_.compare_exchange_weak(head, raw, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
  // The thread that finds the list empty wakes the loop; later tasks join the same batch.
  if (head == nullptr) boost::asio::post(io_, [this] { RunTasks(); });
}

void EventLoop::Post(std::function<void()> work) { boost::asio::post(io_, std::move(work)); }

EventLoop* EventLoop::OfFiber() { return loop_of_fiber; }

void EventLoop::RunFiber(std::function<void()> work) {
  if (!InLoop() || Fiber::Current() != nullptr) {
    return Post([this, work = std::move(work)]() mutable { RunFiber(std::move(work)); });
  }
  auto fiber = std::make_shared<LoopFiber>(*this, std::move(work));
  fiber->self = fiber;
  ++fibers_;
  Continue(*fiber);
}

void EventLoop::Continue(LoopFiber& fiber) {
  loop_of_fiber = this;
  fiber.Resume();
  loop_of_fiber = nullptr;
  if (!fiber.finished()) return;
  fiber.self = nullptr;
  if (--fibers_ == 0 && stopping_) io_.stop();
}

void EventLoop::RunTasks() {
  LoopTask* newest = tasks_.load(std::memory_order_relaxed);
  do {
    if (newest == nullptr || newest == Closed()) return;
  } while (!tasks_.compare_exchange_weak(newest, nullptr, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
  LoopTask* oldest = nullptr;
  while (newest != nullptr) oldest = std::exchange(newest, std::exchange(newest->next_, oldest));
  batching_ = true;
  while (oldest != nullptr) {
    const std::shared_ptr<LoopTask> task = std::move(oldest->self_);
    oldest = oldest->next_;
    // From here on the task may be enqueued again; an exchange, so that Run sees writes that
    // precede an Enqueue which found the task queued.
    task->queued_.exchange(false, std::memory_order_acq_rel);
    task->Run();
  }
  batching_ = false;
  RunFlushes();
}

void EventLoop::FlushSoon(Flushable& what) {
  if (what.flush_queued_) return;
  what.flush_queued_ = true;
  flushes_.push_back(what.shared_from_this());
  if (!batching_ && flushes_.size() == 1) boost::asio::post(io_, [this] { RunFlushes(); });
}

void EventLoop::RunFlushes() {
  std::vector<std::shared_ptr<Flushable>> flushes;
  flushes.swap(flushes_);
  for (const auto& flushable : flushes) {
    flushable->flush_queued_ = false;
    flushable->Flush();
  }
  // Keeps the capacity, unless a flush queued another one.
  if (flushes_.empty()) {
    flushes.clear();
    flushes_.swap(flushes);
  }
}

const std::string& EventLoop::HttpDate() {
  const int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.Now().time_since_epoch()).count();
  if (second != date_second_ || date_.empty()) {
    date_second_ = second;
    const time_t when = second;
    tm parts{};
    gmtime_r(&when, &parts);
    static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[64];
    // strftime("%a") depends on the locale.
    const size_t size = std::strftime(text, sizeof(text), "%Y %H:%M:%S GMT", &parts);
    date_ = std::string(kDays[parts.tm_wday]) + ", " + (parts.tm_mday < 10 ? "0" : "") +
            std::to_string(parts.tm_mday) + " " + kMonths[parts.tm_mon] + " " +
            std::string(text, size);
  }
  return date_;
}

}  // namespace cox::net
