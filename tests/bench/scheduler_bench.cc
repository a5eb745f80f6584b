// SPDX-License-Identifier: Apache-2.0
// Measures how many Pods per second of processor time the scheduler decides about, without API
// server: snapshot, cycle, assume, one thread. --nodes N (5000), --pods N (20000).
//
// The target is 10,000 decisions per second at 5,000 nodes. Processor speed differs between
// machines, so --check compares with decoding a Pod from JSON in the same run: a decision may take
// at most kMostDecodes decodes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "base/clock.h"
#include "object/codec/json/json.h"
#include "scheduler/cycle/cycle.h"
#include "scheduler/testing/test_objects.h"
#include "tests/bench/sample_pod.h"

namespace cox::scheduler {
namespace {

// Decisions per second at 5,000 nodes.
constexpr double kTarget = 10'000;
// The target in decodes of a Pod, with which it was measured.
constexpr double kMostDecodes = 10;

struct Case {
  const char* name;
  core::v1::Pod (*make)(int number);
  bool checked;
};

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Decodes of a typical Pod per second.
double MeasureDecodes() {
  core::v1::Pod pod = bench::SamplePod();
  for (int i = 0; i < 2; ++i) pod.spec.containers.push_back(bench::SampleContainer(i));
  const std::string text = json::Encode(pod);
  constexpr int kRounds = 5000;
  const double begun = CpuSeconds();
  for (int i = 0; i < kRounds; ++i) {
    if (!json::Decode<core::v1::Pod>(text).ok()) std::abort();
  }
  return kRounds / (CpuSeconds() - begun);
}

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
  const double begun = CpuSeconds();
  for (const PodInfoPtr& pod : pods) {
    const Decision decision = cycle.Decide(ctx, *profile, *pod, nodes.Take());
    if (decision.ok()) (void)nodes.cache.Assume(*pod, decision.node);
  }
  return num_pods / (CpuSeconds() - begun);
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
    const double rate = Measure(c, nodes, c.checked ? pods : pods / 4);
    const double decodes = MeasureDecodes() / rate;
    std::printf("  %-36s %10.0f decisions/s%s, one takes %.1f decodes of a Pod\n", c.name, rate,
                c.checked && rate < kTarget ? " (below the target)" : "", decodes);
    if (c.checked && decodes > kMostDecodes) kept = false;
  }
  if (check && !kept) std::printf("a decision takes more than %.0f decodes\n", kMostDecodes);
  return check && !kept ? 1 : 0;
}

}  // namespace
}  // namespace cox::scheduler

int main(int argc, char** argv) { return cox::scheduler::Run(argc, argv); }
