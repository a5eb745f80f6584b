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

// Selects requests. Empty fields match all.
struct RequestMatch {
  std::string verb;      // RBAC verb: get, list, watch, create, update, patch, delete, ...
  std::string resource;  // "pods", "deployments"; without the group
  std::string ns;
  std::string name;
};

// The faults of a request. Several may be set. They apply in this order: the delay, faults before
// the server, faults of the response.
struct Fault {
  // --- Before the server.
  Clock::Duration delay{};       // by the clock of the request's context
  bool refuse = false;           // connection refused: Unavailable, and NotSent()
  bool silent = false;           // half-open: no response until the request's context stops
  std::optional<Status> answer;  // the response of the server: status code, and Retry-After if set
  // The request goes to this server instead, for example a lagging one.
  std::shared_ptr<Transport> other;
  // --- After the server has processed the request.
  bool lose_response = false;  // the connection breaks before the response arrives: Unavailable
  // --- Faults of streamed bodies, in bytes or in events of a watch.
  std::optional<size_t> cut_after_bytes;   // the connection breaks there
  std::optional<size_t> cut_after_events;  // the connection breaks in the middle of the next event
  std::optional<size_t> end_after_events;  // the server closes the stream cleanly; 0: immediately
  std::optional<size_t> silent_after_events;  // no more data, not even an end of stream
  bool drop_bookmarks = false;
  bool repeat_events = false;  // each event is sent twice

  // --- Frequency.
  size_t skip = 0;          // number of matching requests without fault first
  size_t times = SIZE_MAX;  // number of requests with the fault after that
};

// A Transport that wraps another one and injects faults that tests add at run time.
//
//   auto faults = FaultyTransport::Over(cluster->transport());
//   auto client = MakeClient(faults);
//   faults->Add({.verb = "watch", .resource = "pods"}, {.cut_after_events = 2, .times = 1});
//   ...
//   faults->Add({.verb = "list"}, {.answer = Status::TooManyRequests(...)});
//   faults->BreakStreams();                       // resets all connections now
//   EXPECT_EQ(faults->requests({.verb = "watch"}), 2);
//
// Only one fault applies to a request: the last added one that matches and is not used up.
// Threads: all methods may be called concurrently.
// Errors: broken connections are Unavailable, as with every Transport.
class FaultyTransport : public Transport {
 public:
  static std::shared_ptr<FaultyTransport> Over(std::shared_ptr<Transport> under);

  // Applies to new requests; existing streams are not affected. Returns the id for Remove.
  virtual uint64_t Add(RequestMatch match, Fault fault) = 0;
  virtual void Remove(uint64_t id) = 0;
  virtual void Clear() = 0;

  // Breaks all open streams, between or within events.
  virtual void BreakStreams() = 0;
  // While true, open streams and new requests get no data: half-open connections or a network
  // partition. When it becomes false, everything continues.
  virtual void SetSilent(bool silent) = 0;

  // The number of matching requests so far, including those with faults.
  virtual size_t requests(const RequestMatch& match = {}) const = 0;
  // Waits until there were at least this number of requests. Returns an error when `ctx` stops
  // first.
  virtual Status AwaitRequests(Context& ctx, const RequestMatch& match, size_t count) const = 0;
  // The number of open streams.
  virtual size_t streams() const = 0;
};

}  // namespace cox::testkit
