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

// A registered callback, see Context::OnStop. Destruction unregisters it: after that the callback
// does not run and is not running, unless the handle is destroyed inside the callback. Keeps its
// context alive.
class [[nodiscard]] StopHandle {
 public:
  StopHandle() = default;

 private:
  friend class Context;
  using Callback = std::stop_callback<std::function<void()>>;
  std::shared_ptr<internal::StopState> state_;
  std::unique_ptr<Callback> callback_;  // after state_, so that it is destroyed first
};

// The first parameter of every blocking call: cancellation with a reason, the clock, the logger,
// and the key/values that identify the work (such as the request ID) in each log line.
//
//   Result<Pod> Read(Context& ctx, ...) {
//     Context attempt = ctx.WithTimeout(seconds(5));       // stops after 5 s, or when ctx does
//     COX_V(attempt.log(), 4, "Reading");
//     COX_RETURN_IF_ERROR(attempt.Sleep(backoff));         // returns early when stopped
//
// Contexts form a tree. A stop reaches all descendants before Stop() returns, and never the
// ancestors. Each context stops once, for one reason: its own (Stop, the deadline) or the inherited
// one.
//
// Guarantees: Done() never becomes false again; when it is true, status() returns the reason.
// Threads: all const methods and Stop() may be called concurrently.
// Ownership: a handle; copies refer to the same context and cost two reference counts. A descendant
//   receives stops from its ancestors as long as a handle to it exists. The clock must outlive all
//   of them.
class Context {
 public:
  using Duration = Clock::Duration;

  // The key of the request ID in log lines.
  static constexpr std::string_view kRequestId = "requestID";

  // The errors of a context stopped without a reason, and of one whose deadline has passed. API
  // requests return them as 503 (the server shuts down) or 504.
  static Status Canceled();
  static Status DeadlineExceeded();

  // A root context: only Stop() stops it.
  explicit Context(Clock& clock, Logger logger = {});

  // Child contexts. A deadline later than the parent's has no effect; one in the past stops the
  // child at once.
  Context Child() const;
  Context WithDeadline(Clock::SteadyTime deadline) const;
  Context WithTimeout(Duration timeout) const;
  // The same context with an additional value, which also appears in log lines. Replaces an
  // existing value of that key.
  Context WithValue(std::string_view key, std::string_view value) const;
  Context WithLogger(Logger logger) const;

  // Stops this context and its descendants, and runs their callbacks on this thread. The first call
  // determines the reason. REQUIRES: !why.ok()
  void Stop(Status why = Canceled());

  bool Done() const { return token_.stop_requested(); }
  // OK until Done().
  Status status() const;
  // For waits outside of this class. Valid as long as a handle to the context exists.
  const std::stop_token& token() const { return token_; }
  // The earliest deadline of this context and its ancestors; kNever if there is none.
  Clock::SteadyTime deadline() const;

  Clock& clock() const;
  const Logger& log() const;
  // Empty if there is no such key.
  std::string_view Value(std::string_view key) const;

  // Blocks for `duration`. Returns the reason if the context stops first.
  Status Sleep(Duration duration) const;
  // Waits on `changed` until `ready()`, which is called with `mu` held. Returns the reason if the
  // context stops first.
  template <class Predicate>
  Status Await(Mutex& mu, CondVar& changed, Predicate ready) const
      COX_REQUIRES(mu) COX_NO_THREAD_SAFETY_ANALYSIS {
    const bool held = changed.WaitUntil(mu, clock(), Clock::kNever, token_, ready);
    return held ? Status() : status();
  }

  // Calls `callback` once when the context stops, on the stopping thread (in no particular order),
  // or immediately if it has already stopped. Callbacks must be short: they notify, close, enqueue.
  StopHandle OnStop(std::function<void()> callback) const;

 private:
  Context(std::shared_ptr<internal::StopState> state,
          std::shared_ptr<const internal::ContextInfo> info);

  std::shared_ptr<internal::StopState> state_;
  std::shared_ptr<const internal::ContextInfo> info_;
  std::stop_token token_;  // of state_, cached so that Done() is cheap
};

}  // namespace cox
