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

// Where requests of one namespace stand in line, so that each is decided knowing what was granted
// to those before it.
//
// While one batch is being decided, those that come later gather; the first of them then decides
// all of them at once. A storm of requests so costs one write of each quota per batch rather than
// per request, and none of them races with another of this server.
//
// Guarantees: of one namespace, one batch at a time; every request is in just one batch.
// Threads: all methods may be called concurrently. The lock is not held while deciding.
template <class Request>
class Desk {
 public:
  struct Place {
    Request request;
    Status answer;
  };
  // Answers all of a batch, whoever of them may have gone meanwhile.
  using Decide = std::function<void(const std::vector<Place*>& batch)>;

  // Returns when `request` has been decided, by this thread or by another. Not OK, with the
  // reason, when `ctx` stops before its turn came.
  Status Ask(Context& ctx, const std::string& ns, Request request, const Decide& decide)
      COX_EXCLUDES(mu_) {
    Seat me{.place = {.request = std::move(request), .answer = {}}};
    MutexLock lock(mu_);
    std::unique_ptr<Line>& slot = lines_[ns];
    if (slot == nullptr) slot = std::make_unique<Line>();
    Line& line = *slot;
    ++line.people;
    line.waiting.push_back(&me);
    const Status waited =
        ctx.Await(mu_, line.moved, [&] { return me.state == kDone || !line.busy; });
    if (me.state != kDone) {
      if (!waited.ok() && me.state == kWaiting) {
        std::erase(line.waiting, &me);
        me.place.answer = waited;
      } else if (!waited.ok()) {
        // Somebody is deciding it and looks at it: too late to leave.
        line.moved.Wait(mu_, [&] { return me.state == kDone; });
      } else {
        TakeTurn(line, decide);
      }
    }
    if (--line.people == 0) lines_.erase(ns);
    return std::move(me.place.answer);
  }

 private:
  enum State { kWaiting, kTaken, kDone };
  struct Seat {
    Place place;
    State state = kWaiting;
  };
  struct Line {
    std::vector<Seat*> waiting;
    bool busy = false;  // a batch is being decided
    int people = 0;     // threads that hold on to this line
    CondVar moved;
  };

  void TakeTurn(Line& line, const Decide& decide) COX_REQUIRES(mu_) {
    const std::vector<Seat*> seats = std::exchange(line.waiting, {});
    std::vector<Place*> batch;
    for (Seat* seat : seats) {
      seat->state = kTaken;
      batch.push_back(&seat->place);
    }
    line.busy = true;
    mu_.Unlock();
    decide(batch);
    mu_.Lock();
    line.busy = false;
    for (Seat* seat : seats) seat->state = kDone;
    line.moved.NotifyAll();
  }

  Mutex mu_;
  std::map<std::string, std::unique_ptr<Line>> lines_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver::quota
