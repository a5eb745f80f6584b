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

// What a run of many equal operations took.
struct Load {
  int64_t operations = 0;
  double seconds = 0;
  std::vector<double> latencies;  // seconds, sorted; of those that went well
  int64_t failures = 0;
  std::string first_failure;
  int64_t bytes = 0;  // of response bodies

  double PerSecond() const { return seconds > 0 ? static_cast<double>(operations) / seconds : 0; }
  double Quantile(double q) const;
};

// Sends `count` requests, `in_flight` at a time: each answer sends the next. No thread per request,
// for the generator shares the processors with what it measures. Answers below 300 are successes.
Load Drive(Context& ctx, net::Client& client, int64_t count, int in_flight,
           std::function<net::Request(int64_t)> make);

// Calls `operation` with 0 to count - 1 on so many threads.
Load DriveThreads(Context& ctx, int64_t count, int threads,
                  const std::function<Status(int64_t)>& operation);

// Many watches of one target and how many events came on them. Dropping it ends them.
//
// Threads: all methods may be called concurrently; `line` is called on the clients' threads.
class Watchers {
 public:
  using Line = std::function<void(std::string_view line)>;
  // Spread over `clients`. `line`, if given, sees each event.
  Watchers(const std::vector<net::Client*>& clients, size_t count, const net::Request& request,
           Line line = {});
  ~Watchers();

  // Until all watches have been answered.
  Status AwaitOpen(Context& ctx);
  // Until all of them together have brought so many events.
  Status AwaitEvents(Context& ctx, int64_t events);

 private:
  class One;
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<net::Observation>> watches_;
};

// The middle one; of an even number, the mean of the two in the middle.
double Median(std::vector<double> values);

}  // namespace cox::bench
