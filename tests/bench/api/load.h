// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "net/client.h"
#include "storage/store.h"

namespace cox::bench {

// The result of a run of many equal operations.
struct Load {
  int64_t operations = 0;
  double seconds = 0;
  std::vector<double> latencies;  // in seconds, sorted; successful operations only
  int64_t failures = 0;
  std::string first_failure;
  int64_t bytes = 0;  // of response bodies

  double PerSecond() const { return seconds > 0 ? static_cast<double>(operations) / seconds : 0; }
  double Quantile(double q) const;
};

// Sends `count` requests, `in_flight` at a time: each response triggers the next request. There is
// no thread per request, because the load generator shares the processors with the server. Status
// codes below 300 are successes.
Load Drive(Context& ctx, net::Client& client, int64_t count, int in_flight,
           std::function<net::Request(int64_t)> make);

// Calls `operation` with 0 to count - 1 on this number of threads.
Load DriveThreads(Context& ctx, int64_t count, int threads,
                  const std::function<Status(int64_t)>& operation);

// Opens many watches of one target and counts their events. Destruction closes them.
//
// Threads: all methods may be called concurrently; `line` is called on the clients' threads.
class Watchers {
 public:
  using Line = std::function<void(std::string_view line)>;
  // The watches are distributed over `clients`. `line`, if given, is called with each event.
  Watchers(const std::vector<net::Client*>& clients, size_t count, const net::Request& request,
           Line line = {});
  ~Watchers();

  // Waits until all watches have a response.
  Status AwaitOpen(Context& ctx);
  // Waits until all watches together have received this number of events.
  Status AwaitEvents(Context& ctx, int64_t events);

 private:
  class One;
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<net::Observation>> watches_;
};

// The median; for an even number of values, the mean of the two middle ones.
double Median(std::vector<double> values);

}  // namespace cox::bench
