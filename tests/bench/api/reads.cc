// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <utility>

#include "api/load.h"
#include "api/objects.h"
#include "api/scenarios.h"

// Measures the server's cost of reads.
namespace cox::bench {
namespace {

constexpr int64_t kGetPods = 500;

struct Read {
  std::string what;
  std::string accept;
  std::string target;  // "%" is replaced by the name
  double target_us = 0, limit_us = 0;
};

// Returns the server's CPU time per read in microseconds, and the load.
Result<std::pair<double, Load>> CostOf(Context& ctx, const Plane& plane, net::Client& client,
                                       const Read& read, int64_t count, int64_t names,
                                       int in_flight) {
  auto make = [&](int64_t i) {
    std::string target = read.target;
    if (const size_t at = target.find('%'); at != target.npos) {
      target.replace(at, 1, NumberedName("pod", i % names));
    }
    net::Request request = plane.NewRequest("GET", std::move(target));
    if (!read.accept.empty()) request.headers.Add("accept", read.accept);
    return request;
  };
  const std::chrono::nanoseconds before = plane.Cpu();
  Load load = Drive(ctx, client, count, in_flight, make);
  const double cost = std::chrono::duration<double, std::micro>(plane.Cpu() - before).count() /
                      static_cast<double>(count);
  if (load.failures > 0) return Status::Internal(read.what + ": " + load.first_failure);
  return std::pair(cost, std::move(load));
}

}  // namespace

Status GetPods(Context& ctx, Setup& setup) {
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  COX_RETURN_IF_ERROR(FillPods(ctx, *plane, kGetPods));
  COX_ASSIGN_OR_RETURN(auto client, plane->NewClient(ctx));
  const std::string pod = std::string(kNamespacePath) + "pods/%";
  const std::string protobuf = "application/vnd.kubernetes.protobuf";
  const std::vector<Read> reads = {
      {"CPU, resourceVersion=0", "", pod + "?resourceVersion=0", 60, 200},
      {"CPU, consistent", "", pod, 60, 250},
      {"CPU, resourceVersion=0, protobuf", protobuf, pod + "?resourceVersion=0", 60, 200},
      {"CPU, consistent, protobuf", protobuf, pod, 60, 250}};
  for (const Read& read : reads) {
    std::vector<double> costs, rates;
    // The first run is a warm-up.
    for (int run = 0; run < 4; ++run) {
      COX_ASSIGN_OR_RETURN(auto measured, CostOf(ctx, *plane, *client, read, setup.sizes.gets / 4,
                                                 kGetPods, kInFlight));
      if (run == 0) continue;
      costs.push_back(measured.first);
      rates.push_back(measured.second.PerSecond());
    }
    char note[64];
    std::snprintf(note, sizeof note, "%.0f/s", Median(rates));
    setup.report.Add(
        {"get", read.what, Median(costs), "us", read.target_us, read.limit_us, false, note});
  }
  return {};
}

Status ListPods(Context& ctx, Setup& setup) {
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  COX_RETURN_IF_ERROR(FillPods(ctx, *plane, setup.sizes.pods));
  COX_ASSIGN_OR_RETURN(auto client, plane->NewClient(ctx, 2));
  const std::string pods = std::string(kNamespacePath) + "pods";
  for (const auto& [name, accept] :
       {std::pair<std::string, std::string>{"JSON", "application/json"},
        {"protobuf", "application/vnd.kubernetes.protobuf"}}) {
    const Read all{"list " + name, accept, pods, 0, 0};
    COX_ASSIGN_OR_RETURN(auto first, CostOf(ctx, *plane, *client, all, 1, 1, 1));
    COX_ASSIGN_OR_RETURN(auto more, CostOf(ctx, *plane, *client, all, setup.sizes.lists, 1, 2));
    const double megabytes =
        static_cast<double>(more.second.bytes) / 1e6 / static_cast<double>(setup.sizes.lists);
    char note[128];
    std::snprintf(note, sizeof note, "%.1f MB, p50 %.0f ms; the first %.1f ms CPU per MB",
                  megabytes, more.second.Quantile(0.5) * 1e3, first.first / 1e3 / megabytes);
    setup.report.Add(
        {"list", "CPU per MB, " + name, more.first / 1e3 / megabytes, "ms", 3, 9, false, note});
  }
  const Read rare{"label list", "", pods + "?labelSelector=group%3Drare", 0, 0};
  const Read none{"empty list", "", pods + "?labelSelector=group%3Dnone", 0, 0};
  // "%3D" is not a placeholder for a name.
  auto labels = [&](const Read& read, const std::string& what, double target, double limit) {
    const std::chrono::nanoseconds before = plane->Cpu();
    const int64_t count = setup.sizes.lists * 20;
    Load load = Drive(ctx, *client, count, 4,
                      [&](int64_t) { return plane->NewRequest("GET", read.target); });
    const double cost = std::chrono::duration<double, std::milli>(plane->Cpu() - before).count() /
                        static_cast<double>(count);
    if (load.failures > 0) return setup.report.Fail("list", load.first_failure);
    char note[96];
    std::snprintf(note, sizeof note, "p50 %.2f ms, p99 %.2f ms", load.Quantile(0.5) * 1e3,
                  load.Quantile(0.99) * 1e3);
    setup.report.Add({"list", what, cost, "ms", target, limit, false, note});
  };
  labels(rare, "CPU, 1 % by label", 0.5, 2.5);
  labels(none, "CPU, nothing by label", 0.5, 2.5);
  return {};
}

}  // namespace cox::bench
