// SPDX-License-Identifier: Apache-2.0
// How many Pods a second the scheduler decides about, without API server: snapshot, cycle, assume,
// one thread. --nodes N (5000), --pods N (20000); with --check it fails below the promise.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "scheduler/cycle.h"
#include "scheduler/test_objects.h"

namespace cox::scheduler {
namespace {

// Decisions a second at 5,000 nodes.
constexpr double kPromise = 10'000;

struct Case {
  const char* name;
  core::v1::Pod (*make)(int number);
  bool promised;
};

core::v1::Pod Replica(int number) { return TestPod("p" + std::to_string(number), "100m", "200Mi"); }
core::v1::Pod OfTwentyKinds(int number) {
  core::v1::Pod pod =
      TestPod("p" + std::to_string(number), std::to_string(100 + number % 20) + "m", "200Mi");
  return pod;
}
core::v1::Pod AllDifferent(int number) {
  core::v1::Pod pod = Replica(number);
  pod.spec.containers[0].image = "image-" + std::to_string(number);
  return pod;
}
core::v1::Pod WithAffinity(int number) {
  core::v1::Pod pod = AllDifferent(number);
  pod.spec.nodeSelector["disk"] = "ssd";
  auto& preferred = pod.spec.affinity.emplace()
                        .nodeAffinity.emplace()
                        .preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
  preferred.weight = 5;
  preferred.preference.matchExpressions = {
      TestRequirement("topology.kubernetes.io/zone", "In", {"zone-1"})};
  return pod;
}
core::v1::Pod TooLarge(int number) {
  return TestPod("p" + std::to_string(number), "1000", "200Mi");
}

double Measure(const Case& c, int num_nodes, int num_pods) {
  RealClock clock;
  Context ctx(clock);
  TestSnapshot nodes(clock);
  for (int i = 0; i < num_nodes; ++i) {
    core::v1::Node node = TestNode("node-" + std::to_string(i), "32", "128Gi");
    node.metadata.labels["topology.kubernetes.io/zone"] = "zone-" + std::to_string(i % 3);
    node.metadata.labels["disk"] = i % 2 == 0 ? "ssd" : "hdd";
    nodes.Add(node);
  }
  MetricsRegistry registry;
  Metrics metrics(registry);
  const std::unique_ptr<Profile> profile = *Profile::Create(ProfileOptions{}, PluginHandle{});
  Cycle cycle(1, &metrics);
  std::vector<PodInfoPtr> pods;
  for (int i = 0; i < num_pods; ++i) pods.push_back(Info(c.make(i)));
  (void)nodes.Take();
  const auto begun = std::chrono::steady_clock::now();
  for (const PodInfoPtr& pod : pods) {
    const Decision decision = cycle.Decide(ctx, *profile, *pod, nodes.Take());
    if (decision.ok()) (void)nodes.cache.Assume(pod, decision.node);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  return num_pods / took.count();
}

int Run(int argc, char** argv) {
  int nodes = 5000;
  int pods = 20'000;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0) check = true;
    if (std::strcmp(argv[i], "--nodes") == 0 && i + 1 < argc) nodes = std::atoi(argv[++i]);
    if (std::strcmp(argv[i], "--pods") == 0 && i + 1 < argc) pods = std::atoi(argv[++i]);
  }
  constexpr Case kCases[] = {
      {"replicas of one workload", Replica, true},
      {"replicas of 20 workloads in turn", OfTwentyKinds, false},
      {"all different", AllDifferent, true},
      {"all different, with affinity", WithAffinity, false},
      {"none fits", TooLarge, false},
  };
  bool kept = true;
  std::printf("%d nodes, %d pods, one thread\n", nodes, pods);
  for (const Case& c : kCases) {
    const double rate = Measure(c, nodes, c.promised ? pods : pods / 4);
    std::printf("  %-36s %10.0f decisions/s\n", c.name, rate);
    if (c.promised && rate < kPromise) kept = false;
  }
  if (check && !kept) std::printf("fewer than the promised %.0f\n", kPromise);
  return check && !kept ? 1 : 0;
}

}  // namespace
}  // namespace cox::scheduler

int main(int argc, char** argv) { return cox::scheduler::Run(argc, argv); }
