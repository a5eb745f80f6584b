// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "api/load.h"
#include "api/objects.h"
#include "api/scenarios.h"

// Measures the cost of watchers for the server and for each other.
namespace cox::bench {
namespace {

constexpr size_t kUpdateBytes = 1400;  // 1.5 KB when stored
constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";
// Objects that are updated in turn.
constexpr int64_t kMapCount = 8;

net::Request UpdateRequest(const Plane& plane, int64_t number) {
  const std::string name = NumberedName("cm", number % kMapCount);
  return plane.NewRequest("PUT", std::string(kMaps) + "/" + name,
                          ConfigMapJson(name, kUpdateBytes, number + 1));
}

// A watch from the current version, without initial events.
Result<net::Request> WatchRequest(Context& ctx, const Plane& plane, net::Client& client) {
  COX_ASSIGN_OR_RETURN(net::Response list,
                       client.Do(ctx, plane.NewRequest("GET", std::string(kMaps) + "?limit=1")));
  std::string text;
  for (const Bytes& piece : list.body) text += piece.view();
  constexpr std::string_view kMark = "\"resourceVersion\":\"";
  const size_t at = text.find(kMark);
  if (at == text.npos) return Status::Internal("a list without a version: " + text);
  const size_t begin = at + kMark.size();
  return plane.NewRequest("GET", std::string(kMaps) + "?watch=true&resourceVersion=" +
                                     text.substr(begin, text.find('"', begin) - begin));
}

// Sends updates at a steady rate and measures the time until each watcher has received the event.
class Paced {
 public:
  Paced(Context& ctx, const Plane& plane, int64_t updates)
      : ctx_(ctx), plane_(plane), sent_(static_cast<size_t>(updates)) {}

  void OnLine(std::string_view line) {
    constexpr std::string_view kMark = "\"seq-";
    const size_t at = line.find(kMark);
    if (at == line.npos) return;
    int64_t number = 0;
    const char* begin = line.data() + at + kMark.size();
    std::from_chars(begin, line.data() + line.size(), number);
    const Clock::SteadyTime now = ctx_.clock().Monotonic();
    MutexLock lock(mu_);
    if (number < 1 || number > static_cast<int64_t>(sent_.size())) return;
    latencies_.push_back(
        std::chrono::duration<double>(now - sent_[static_cast<size_t>(number - 1)]).count());
  }

  // Sequentially, `pause` apart.
  Status Send(net::Client& client, std::chrono::nanoseconds pause) {
    Clock::SteadyTime next = ctx_.clock().Monotonic();
    for (size_t i = 0; i < sent_.size(); ++i) {
      {
        MutexLock lock(mu_);
        sent_[i] = ctx_.clock().Monotonic();
      }
      COX_ASSIGN_OR_RETURN(net::Response answer,
                           client.Do(ctx_, UpdateRequest(plane_, static_cast<int64_t>(i))));
      if (answer.status != 200) return Status::Internal("an update was not taken");
      next += pause;
      const Clock::SteadyTime now = ctx_.clock().Monotonic();
      if (next > now) COX_RETURN_IF_ERROR(ctx_.Sleep(next - now));
    }
    return {};
  }

  double Quantile(double q) {
    MutexLock lock(mu_);
    Load load;
    load.latencies = latencies_;
    std::sort(load.latencies.begin(), load.latencies.end());
    return load.Quantile(q);
  }

 private:
  Context& ctx_;
  const Plane& plane_;
  Mutex mu_;
  std::vector<Clock::SteadyTime> sent_ COX_GUARDED_BY(mu_);
  std::vector<double> latencies_ COX_GUARDED_BY(mu_);
};

}  // namespace

Status FanOut(Context& ctx, Setup& setup) {
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  COX_RETURN_IF_ERROR(FillConfigMaps(ctx, *plane, kMapCount));
  COX_ASSIGN_OR_RETURN(auto writer, plane->NewClient(ctx, 1));
  COX_ASSIGN_OR_RETURN(auto reader, plane->NewClient(ctx, 5));
  std::vector<double> costs, rates;
  for (int run = 0; run < 3; ++run) {
    COX_ASSIGN_OR_RETURN(const net::Request watch, WatchRequest(ctx, *plane, *writer));
    Watchers watchers({reader.get()}, setup.sizes.watchers, watch);
    COX_RETURN_IF_ERROR(watchers.AwaitOpen(ctx));
    const std::chrono::nanoseconds before = plane->Cpu();
    const int64_t updates = setup.sizes.updates;
    const Clock::SteadyTime began = ctx.clock().Monotonic();
    Load load = Drive(ctx, *writer, updates, static_cast<int>(kMapCount),
                      [&](int64_t i) { return UpdateRequest(*plane, i + run * updates); });
    if (load.failures > 0) return Status::Internal(load.first_failure);
    const int64_t events = updates * static_cast<int64_t>(setup.sizes.watchers);
    COX_RETURN_IF_ERROR(watchers.AwaitEvents(ctx, events));
    const double seconds = std::chrono::duration<double>(ctx.clock().Monotonic() - began).count();
    costs.push_back(std::chrono::duration<double, std::micro>(plane->Cpu() - before).count() /
                    static_cast<double>(events));
    rates.push_back(static_cast<double>(events) / seconds);
  }
  char note[96];
  std::snprintf(note, sizeof note, "%.0f events/s, %zu watchers x %lld updates", Median(rates),
                setup.sizes.watchers, static_cast<long long>(setup.sizes.updates));
  setup.report.Add({"fan-out", "CPU per delivered event", Median(costs), "us", 4, 16, false, note});
  return {};
}

Status SlowWatchers(Context& ctx, Setup& setup) {
  constexpr size_t kHealthy = 50;
  constexpr size_t kStalled = 10;
  constexpr std::chrono::milliseconds kPause{2};
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  COX_RETURN_IF_ERROR(FillConfigMaps(ctx, *plane, kMapCount));
  COX_ASSIGN_OR_RETURN(auto writer, plane->NewClient(ctx, 1));
  COX_ASSIGN_OR_RETURN(auto reader, plane->NewClient(ctx, 2));
  std::vector<double> ratios, quiet_tails;
  double quiet = 0;
  for (int run = 0; run < setup.sizes.pairs * 2; ++run) {
    const bool stalling = run % 2 == 1;
    COX_ASSIGN_OR_RETURN(auto staller, plane->NewClient(ctx, 2));
    COX_ASSIGN_OR_RETURN(const net::Request watch, WatchRequest(ctx, *plane, *writer));
    std::vector<std::unique_ptr<net::ClientStream>> stalled;
    for (size_t i = 0; stalling && i < kStalled; ++i) {
      COX_ASSIGN_OR_RETURN(auto stream, staller->Start(ctx, watch));
      stalled.push_back(std::move(stream));
    }
    // Shared, because a closed watch may still deliver a line.
    const auto paced = std::make_shared<Paced>(ctx, *plane, setup.sizes.paced_updates);
    Watchers watchers({reader.get()}, kHealthy, watch,
                      [paced](std::string_view line) { paced->OnLine(line); });
    COX_RETURN_IF_ERROR(watchers.AwaitOpen(ctx));
    COX_RETURN_IF_ERROR(paced->Send(*writer, kPause));
    COX_RETURN_IF_ERROR(
        watchers.AwaitEvents(ctx, setup.sizes.paced_updates * static_cast<int64_t>(kHealthy)));
    const double tail = paced->Quantile(0.99);
    if (!stalling) {
      quiet = tail;
      quiet_tails.push_back(tail * 1e3);
    } else {
      ratios.push_back(tail / quiet);
    }
  }
  char note[96];
  std::snprintf(note, sizeof note, "quiet p99 %.2f ms, ratios %.2f-%.2f", Median(quiet_tails),
                *std::min_element(ratios.begin(), ratios.end()),
                *std::max_element(ratios.begin(), ratios.end()));
  setup.report.Add(
      {"slow-watchers", "healthy p99, 10 stalled / none", Median(ratios), "", 1.1, 4, false, note});
  return {};
}

Status IdleWatches(Context& ctx, Setup& setup) {
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  COX_ASSIGN_OR_RETURN(auto client, plane->NewClient(ctx, 1));
  // Allocations of the first request are not part of the watches' memory.
  COX_RETURN_IF_ERROR(FillConfigMaps(ctx, *plane, 1));
  COX_ASSIGN_OR_RETURN(const net::Request watch, WatchRequest(ctx, *plane, *client));
  const int64_t before = plane->Resident();
  Watchers watchers({client.get()}, setup.sizes.idle_watches, watch);
  COX_RETURN_IF_ERROR(watchers.AwaitOpen(ctx));
  const double each = static_cast<double>(plane->Resident() - before) /
                      static_cast<double>(setup.sizes.idle_watches);
  char note[96];
  std::snprintf(note, sizeof note, "%zu watches on %zu connections, TLS and HTTP/2 included",
                setup.sizes.idle_watches, client->connections());
  setup.report.Add({"idle-watches", "memory per watch", each / 1024, "KB", 20, 40, false, note});
  return {};
}

}  // namespace cox::bench
