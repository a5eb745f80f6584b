// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/status.h"

namespace cox {

namespace internal {
class StopState;
struct ContextInfo;
}  // namespace internal

// A registered callback, see Context::OnStop. Dropping it unregisters: after that the callback does
// not run and is not running, unless it is dropped from inside the callback. Keeps its context
// alive.
class [[nodiscard]] StopHandle {
 public:
  StopHandle() = default;

 private:
  friend class Context;
  using Callback = std::stop_callback<std::function<void()>>;
  std::shared_ptr<internal::StopState> state_;
  std::unique_ptr<Callback> callback_;  // after state_, so that it goes first
};

// What every blocking call takes first: when to stop and why, the clock, the logger, and the
// key/values that identify the work (such as the request's id) in each log line.
//
//   Result<Pod> Read(Context& ctx, ...) {
//     Context attempt = ctx.WithTimeout(seconds(5));       // stops after 5 s, or when ctx does
//     COX_V(attempt.log(), 4, "Reading");
//     COX_RETURN_IF_ERROR(attempt.Sleep(backoff));         // returns early when stopped
//
// Contexts form a tree. A stop reaches all descendants before Stop() returns; nothing goes upwards.
// Each context stops once, for one reason: its own (Stop, the deadline) or the one inherited.
//
// Guarantees: Done() never becomes false again; when it is true, status() says why.
// Threads: all const methods and Stop() may be called concurrently.
// Ownership: a handle; copies are the same context and cost two reference counts. A descendant
//   stays reachable by stops from above as long as one handle to it lives. The clock outlives all
//   of them.
class Context {
 public:
  using Duration = Clock::Duration;

  // The key of the request's id, as log lines have it.
  static constexpr std::string_view kRequestId = "requestID";

  // The reasons of a context that was stopped without one, and of one whose time is over. An API
  // request that meets them answers 503 (the server is going away) or 504.
  static Status Canceled();
  static Status DeadlineExceeded();

  // A root: it stops only by Stop().
  explicit Context(Clock& clock, Logger logger = {});

  // Children. A deadline later than the parent's has no effect; one that is past stops the child at
  // once.
  Context Child() const;
  Context WithDeadline(Clock::SteadyTime deadline) const;
  Context WithTimeout(Duration timeout) const;
  // The same context for stopping, whose values and log lines also have this one. A key set again
  // is replaced.
  Context WithValue(std::string_view key, std::string_view value) const;
  Context WithLogger(Logger logger) const;

  // Stops this context and its descendants, running their callbacks on this thread. The first call
  // wins. REQUIRES: !why.ok()
  void Stop(Status why = Canceled());

  bool Done() const { return token_.stop_requested(); }
  // OK until Done().
  Status status() const;
  // For waiting elsewhere. Valid as long as a handle to the context lives.
  const std::stop_token& token() const { return token_; }
  // The nearest deadline of this context and its ancestors; kNever if none has one.
  Clock::SteadyTime deadline() const;

  Clock& clock() const;
  const Logger& log() const;
  // Empty if there is no such key.
  std::string_view Value(std::string_view key) const;

  // Blocks for `duration`. Not OK, with the reason, when stopped before it has passed.
  Status Sleep(Duration duration) const;
  // Waits on `changed` until `ready()`, which is called with `mu` held. Not OK when stopped first.
  template <class Predicate>
  Status Await(Mutex& mu, CondVar& changed, Predicate ready) const
      COX_REQUIRES(mu) COX_NO_THREAD_SAFETY_ANALYSIS {
    const bool held = changed.WaitUntil(mu, clock(), Clock::kNever, token_, ready);
    return held ? Status() : status();
  }

  // Calls `callback` once when the context stops, on the thread that stops it (in no given order
  // with others), or here and now if it has stopped. Callbacks are short: they notify, close,
  // enqueue.
  StopHandle OnStop(std::function<void()> callback) const;

 private:
  Context(std::shared_ptr<internal::StopState> state,
          std::shared_ptr<const internal::ContextInfo> info);

  std::shared_ptr<internal::StopState> state_;
  std::shared_ptr<const internal::ContextInfo> info_;
  std::stop_token token_;  // of state_, beside it so that Done() is one look away
};

}  // namespace cox
