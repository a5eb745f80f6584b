// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "coxswain/transport.h"

namespace cox::testkit {

// Which requests. What is empty matches all.
struct RequestMatch {
  std::string verb;      // as RBAC names them: get, list, watch, create, update, patch, delete, ...
  std::string resource;  // "pods", "deployments"; without the group
  std::string ns;
  std::string name;
};

// What happens to a request. Several may be set: first the delay, then what keeps the request from
// the server, then what is done to the answer.
struct Fault {
  // --- Before the server.
  Clock::Duration delay{};           // by the clock of the request's context
  bool refuse = false;               // no connection can be made: Unavailable, and NotSent()
  bool silent = false;               // half-open: no answer, until the request's context stops
  std::optional<Status> answer;      // the server says so: its code, and Retry-After if it has one
  std::shared_ptr<Transport> other;  // this server is asked instead: one that lags behind
  // --- After the server, which has done what was asked.
  bool lose_answer = false;  // the connection breaks before the answer comes: Unavailable
  // --- Of bodies that stream, in bytes or in events of a watch.
  std::optional<size_t> cut_after_bytes;      // the connection breaks there
  std::optional<size_t> cut_after_events;     // it breaks in the middle of the next event
  std::optional<size_t> end_after_events;     // the server ends it in peace; 0: watches end at once
  std::optional<size_t> silent_after_events;  // nothing more comes, not even an end
  bool drop_bookmarks = false;
  bool repeat_events = false;  // each event comes twice

  // --- How often.
  size_t skip = 0;          // so many requests that match go unharmed first
  size_t times = SIZE_MAX;  // then so many meet it
};

// A Transport over a Transport that fails as the test says, while it runs.
//
//   auto faults = FaultyTransport::Over(cluster->transport());
//   auto client = MakeClient(faults);
//   faults->Add({.verb = "watch", .resource = "pods"}, {.cut_after_events = 2, .times = 1});
//   ...
//   faults->Add({.verb = "list"}, {.answer = Status::TooManyRequests(...)});
//   faults->BreakStreams();                       // all connections are reset, now
//   EXPECT_EQ(faults->requests({.verb = "watch"}), 2);
//
// A request meets the fault that was added last of those that match it and are not used up; the
// others do not see it.
// Threads: all methods may be called concurrently.
// Errors: what broke is Unavailable, as of any Transport.
class FaultyTransport : public Transport {
 public:
  static std::shared_ptr<FaultyTransport> Over(std::shared_ptr<Transport> under);

  // Requests from now on; streams that run are not touched. Returns what Remove takes.
  virtual uint64_t Add(RequestMatch match, Fault fault) = 0;
  virtual void Remove(uint64_t id) = 0;
  virtual void Clear() = 0;

  // Every stream that runs breaks, between events or in one.
  virtual void BreakStreams() = 0;
  // While true nothing comes any more, on streams that run and to new requests: half-open
  // connections, or a network that is split. When it is false again, all goes on.
  virtual void SetSilent(bool silent) = 0;

  // Requests so far that match, also those that met a fault.
  virtual size_t requests(const RequestMatch& match = {}) const = 0;
  // Until there were at least so many. Not OK when `ctx` stops first.
  virtual Status AwaitRequests(Context& ctx, const RequestMatch& match, size_t count) const = 0;
  // Streams that somebody holds.
  virtual size_t streams() const = 0;
};

}  // namespace cox::testkit
