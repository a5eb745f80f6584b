// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/status.h"

namespace cox::apiserver::quota {

// Evaluates the requests of a namespace in batches, so that each evaluation includes the usage of
// the requests before it.
//
// Requests that arrive while a batch is evaluated form the next batch, and the thread of the first
// one evaluates it. A burst of requests therefore writes each quota once per batch instead of once
// per request, and the requests of one server do not conflict with each other.
//
// Guarantees: a namespace has one batch at a time; each request is in one batch.
// Threads: all methods may be called concurrently. The lock is not held during an evaluation.
template <class Request>
class QuotaBatcher {
 public:
  struct Place {
    Request request;
    Status answer;
  };
  // Sets the answer of every request of a batch.
  using Decide = std::function<void(const std::vector<Place*>& batch)>;

  // Returns the answer when this thread or another one has evaluated `request`, or the error of
  // `ctx` if that stops before the evaluation has begun.
  Status Evaluate(Context& ctx, const std::string& ns, Request request, const Decide& decide)
      COX_EXCLUDES(mu_) {
    Waiter me{.place = {.request = std::move(request), .answer = {}}};
    MutexLock lock(mu_);
    std::unique_ptr<Line>& slot = lines_[ns];
    if (slot == nullptr) slot = std::make_unique<Line>();
    Line& line = *slot;
    ++line.refcount;
    line.waiting.push_back(&me);
    const Status waited =
        ctx.Await(mu_, line.moved, [&] { return me.state == kDone || !line.busy; });
    if (me.state != kDone) {
      if (!waited.ok() && me.state == kWaiting) {
        std::erase(line.waiting, &me);
        me.place.answer = waited;
      } else if (!waited.ok()) {
        // Another thread evaluates it and refers to it.
        line.moved.Wait(mu_, [&] { return me.state == kDone; });
      } else {
        TakeTurn(line, decide);
      }
    }
    if (--line.refcount == 0) lines_.erase(ns);
    return std::move(me.place.answer);
  }

 private:
  enum State { kWaiting, kTaken, kDone };
  struct Waiter {
    Place place;
    State state = kWaiting;
  };
  struct Line {
    std::vector<Waiter*> waiting;
    bool busy = false;  // a batch is being evaluated
    int refcount = 0;   // threads that use this line
    CondVar moved;
  };

  void TakeTurn(Line& line, const Decide& decide) COX_REQUIRES(mu_) {
    const std::vector<Waiter*> waiters = std::exchange(line.waiting, {});
    std::vector<Place*> batch;
    for (Waiter* waiter : waiters) {
      waiter->state = kTaken;
      batch.push_back(&waiter->place);
    }
    line.busy = true;
    mu_.Unlock();
    decide(batch);
    mu_.Lock();
    line.busy = false;
    for (Waiter* waiter : waiters) waiter->state = kDone;
    line.moved.NotifyAll();
  }

  Mutex mu_;
  std::map<std::string, std::unique_ptr<Line>> lines_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver::quota
