// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <functional>
#include <utility>

#include "api/load.h"
#include "api/objects.h"
#include "api/scenarios.h"

// Compares creates through the API server with puts of the same bytes to etcd, alternating.
namespace cox::bench {
namespace {

constexpr size_t kConfigMapBytes = 1024;
// For each kind of run, before measuring: caches, connections, threads.
constexpr int64_t kWarmUp = 500;

struct Kind {
  std::string scenario;
  std::string plural;
  std::string key_prefix;
  std::function<std::string(const std::string& name)> json;
  double target = 0, limit = 0;
};

Status Failed(const Load& load, const std::string& what) {
  if (load.failures == 0) return {};
  return Status::Internal(what + ": " + std::to_string(load.failures) +
                          " failed, the first with: " + load.first_failure);
}

Load CreateRun(Context& ctx, const Plane& plane, net::Client& client, const Kind& kind, int run,
               int64_t count) {
  const std::string target = std::string(kNamespacePath) + kind.plural;
  return Drive(ctx, client, count, kInFlight, [&](int64_t i) {
    return plane.NewRequest("POST", target,
                            kind.json(NumberedName("bench-" + std::to_string(100 + run), i)));
  });
}

Load PutRun(Context& ctx, storage::EtcdStore& etcd, const Kind& kind, const std::string& value,
            int run, int64_t count) {
  // Next to the keys of the API, with the same length.
  const std::string prefix = "/registrx/" + kind.key_prefix + "/default/";
  return DriveThreads(ctx, count, kInFlight, [&](int64_t i) {
    const std::string key = prefix + NumberedName("bench-" + std::to_string(100 + run), i);
    return etcd.Create(ctx, key, value).status();
  });
}

Status CreateAgainstEtcd(Context& ctx, Setup& setup, const Kind& kind) {
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  COX_ASSIGN_OR_RETURN(auto client, plane->NewClient(ctx));
  COX_ASSIGN_OR_RETURN(auto etcd, plane->NewEtcd(ctx));
  COX_RETURN_IF_ERROR(Failed(CreateRun(ctx, *plane, *client, kind, 0, kWarmUp), "warm-up"));
  COX_ASSIGN_OR_RETURN(
      storage::Store::GetResult stored,
      etcd->Get(ctx, "/registry/" + kind.key_prefix + "/default/" + NumberedName("bench-100", 0)));
  if (!stored.kv) return Status::Internal("the created object is not in etcd");
  const std::string value(stored.kv->value.view());
  COX_RETURN_IF_ERROR(Failed(PutRun(ctx, *etcd, kind, value, 0, kWarmUp), "warm-up"));

  std::vector<double> ratios, rates, bare_rates, costs, tails;
  for (int pair = 1; pair <= setup.sizes.pairs; ++pair) {
    const int64_t count = setup.sizes.creates;
    const std::chrono::nanoseconds before = plane->Cpu();
    const Load api = CreateRun(ctx, *plane, *client, kind, pair, count);
    costs.push_back(std::chrono::duration<double, std::micro>(plane->Cpu() - before).count() /
                    static_cast<double>(count));
    COX_RETURN_IF_ERROR(Failed(api, "creates"));
    const Load bare = PutRun(ctx, *etcd, kind, value, pair, count);
    COX_RETURN_IF_ERROR(Failed(bare, "puts"));
    rates.push_back(api.PerSecond());
    bare_rates.push_back(bare.PerSecond());
    ratios.push_back(api.PerSecond() / bare.PerSecond());
    tails.push_back(api.Quantile(0.99) * 1e3);
  }
  char note[160];
  std::snprintf(note, sizeof note, "%.0f/s of %.0f/s, ratios %.2f-%.2f, %zu B stored, p99 %.1f ms",
                Median(rates), Median(bare_rates), *std::min_element(ratios.begin(), ratios.end()),
                *std::max_element(ratios.begin(), ratios.end()), value.size(), Median(tails));
  setup.report.Add({kind.scenario, "creates / bare etcd puts", Median(ratios), "", kind.target,
                    kind.limit, /*at_least=*/true, note});
  const bool pods = kind.plural == "pods";
  setup.report.Add({kind.scenario, "server CPU per create", Median(costs), "us",
                    pods ? 400.0 : 170.0, pods ? 900.0 : 450.0, /*at_least=*/false, ""});
  return {};
}

}  // namespace

Status CreateConfigMaps(Context& ctx, Setup& setup) {
  return CreateAgainstEtcd(
      ctx, setup,
      {"create-cm", "configmaps", "configmaps",
       [](const std::string& name) { return ConfigMapJson(name, kConfigMapBytes); }, 0.5, 0.2});
}

Status CreatePods(Context& ctx, Setup& setup) {
  return CreateAgainstEtcd(
      ctx, setup,
      {"create-pod", "pods", "pods",
       [](const std::string& name) { return PodJson(name, "common"); }, 0.4, 0.12});
}

Status FillPods(Context& ctx, const Plane& plane, int64_t count) {
  COX_ASSIGN_OR_RETURN(auto client, plane.NewClient(ctx));
  return Failed(Drive(ctx, *client, count, kInFlight,
                      [&](int64_t i) {
                        return plane.NewRequest(
                            "POST", std::string(kNamespacePath) + "pods",
                            PodJson(NumberedName("pod", i), i % 100 == 0 ? "rare" : "common"));
                      }),
                "filling pods");
}

Status FillConfigMaps(Context& ctx, const Plane& plane, int64_t count) {
  COX_ASSIGN_OR_RETURN(auto client, plane.NewClient(ctx));
  return Failed(Drive(ctx, *client, count, kInFlight,
                      [&](int64_t i) {
                        return plane.NewRequest(
                            "POST", std::string(kNamespacePath) + "configmaps",
                            ConfigMapJson(NumberedName("cm", i), kConfigMapBytes));
                      }),
                "filling config maps");
}

// The same creates with an independent load generator: h2load sends one body repeatedly, so the
// server generates the name.
Status CrossCheck(Context& ctx, Setup& setup) {
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  std::string json = ConfigMapJson("x", kConfigMapBytes);
  json.replace(json.find(R"("name":"x")"), 10, R"("generateName":"x-")");
  const std::string body = plane->folder() + "/body", output = plane->folder() + "/h2load";
  std::ofstream(body) << json;
  const int64_t count = setup.sizes.creates * 2;
  const std::chrono::nanoseconds before = plane->Cpu();
  COX_ASSIGN_OR_RETURN(
      auto h2load,
      storage::Child::Start({"h2load", "-n", std::to_string(count), "-c", "4", "-m", "16", "-t",
                             "1", "-H", "authorization: Bearer " + std::string(Plane::kToken), "-H",
                             "content-type: application/json", "-d", body,
                             plane->url() + std::string(kNamespacePath) + "configmaps"},
                            output));
  h2load->Wait();
  const double cost = std::chrono::duration<double, std::micro>(plane->Cpu() - before).count() /
                      static_cast<double>(count);
  std::ifstream lines(output);
  bool ran = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("finished") && !line.starts_with("status")) continue;
    setup.report.Say("h2load", line);
    ran = true;
  }
  if (!ran) {
    setup.report.Say("h2load", "not installed: left out");
    return {};
  }
  setup.report.Add({"h2load", "server CPU per create", cost, "us", 170, 450, false, ""});
  return {};
}

}  // namespace cox::bench
