// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time of controllers for one changed Pod, by the size of its ReplicaSet, Service
// or Job.
//
// ReplicaSet: counting all Pods twice, as a sync without counters would, and the update of the
// counters, which includes the update of the cache. Service: planning all slices, and those of the
// changed Pod. Job: one sync; it is paced, because it reads all Pods. With --check the program
// fails if the time per change grows with the size of a ReplicaSet, or if planning one changed Pod
// of a large Service takes more than a tenth of planning all.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/clock.h"
#include "base/notification.h"
#include "controllers/network/endpointslice/slice_changes.h"
#include "controllers/shared/pods/pod_counter.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/job/decide.h"
#include "cpu_time.h"
#include "sdk/cache/resource_informer.h"

namespace {

using cox::Map;
using cox::Object;
using cox::Time;
using cox::core::v1::Pod;
using cox::sdk::ResourceInformer;
namespace controllers = cox::controllers;
namespace pods = cox::controllers::pods;

const Map<std::string> kLabels = {{"app", "web"}, {"pod-template-hash", "6d4cf56db6"}};

Pod MakePod(int number, bool ready) {
  Pod pod;
  pod.metadata = {.name = "web-6d4cf56db6-" + std::to_string(100'000 + number),
                  .namespace_ = "default",
                  .uid = "0f3c7a1e-5a0e-4c39-9f55-" + std::to_string(100'000 + number),
                  .labels = kLabels,
                  .ownerReferences = {{.kind = "ReplicaSet", .name = "web", .uid = "set"}}};
  pod.metadata.ownerReferences[0].controller = true;
  pod.spec.nodeName = "node-" + std::to_string(number % 500);
  cox::core::v1::Container container;
  container.name = "main";
  container.ports = {{.name = "http", .containerPort = 8080, .protocol = "TCP"}};
  pod.spec.containers = {container};
  pod.status.phase = "Running";
  pod.status.podIP = "10." + std::to_string(number / 65'536) + "." +
                     std::to_string(number / 256 % 256) + "." + std::to_string(number % 256);
  pod.status.podIPs = {{.ip = pod.status.podIP}};
  pod.status.conditions = {{.type = "Ready",
                            .status = ready ? "True" : "False",
                            .lastTransitionTime = Time::FromUnix(1'790'000'000)}};
  return pod;
}

// The fastest of five measurements, in microseconds per call.
double Fastest(int calls, const std::function<void()>& work) {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const double start = cox::bench::ThreadCpuMicroseconds();
    for (int i = 0; i < calls; ++i) work();
    const double took = (cox::bench::ThreadCpuMicroseconds() - start) / calls;
    best = round == 0 ? took : std::min(best, took);
  }
  return best;
}

// Returns the time per change with counters.
double ReplicaSet(int size) {
  cox::RealClock clock;
  const auto informer = std::make_shared<ResourceInformer>(
      cox::Resource::Of<Pod>(), false, cox::CacheScope(), clock, cox::Clock::Duration(),
      std::make_shared<cox::Notification>());
  informer->Replace(informer->StartFeed(""), {}, "1", true);
  const pods::PodCounter::PodIndex index(informer);
  pods::PodCounter counter(index);
  int64_t version = 1;
  const auto put = [&](int number, bool ready) {
    Pod pod = MakePod(number, ready);
    pod.metadata.resourceVersion = std::to_string(++version);
    informer->ObserveWrite(std::make_shared<const Object>(Object::Of(std::move(pod))),
                           ResourceInformer::kUnknownBase, "bench");
  };
  for (int i = 0; i < size; ++i) put(i, false);
  const cox::meta::v1::ObjectMeta owner = {.name = "web", .namespace_ = "default", .uid = "set"};
  cox::meta::v1::LabelSelector selector;
  selector.matchLabels = kLabels;
  const Time now = Time::FromUnix(1'790'000'100);
  size_t sum = 0;
  const double all = Fastest(20, [&] {
    for (int list = 0; list < 2; ++list) {
      for (const pods::PodPtr& pod : index.Find(pods::ControlledBy(owner))) {
        if (pods::IsActive(*pod) && pods::IsReady(*pod)) ++sum;
      }
    }
  });
  bool ready = false;
  const double one = Fastest(500, [&] {
    ready = !ready;
    put(7, ready);
    const auto counts =
        counter.CountsOf({.metadata = owner, .selector = &selector, .labels = kLabels}, now);
    sum += counts->ready;
  });
  std::printf("ReplicaSet, %6d Pods: all %9.1f us  counters %7.1f us  %zu\n", size, all, one,
              sum % 2);
  return one;
}

// Returns the part of the time for all Pods that one changed Pod takes.
double Service(int size) {
  cox::core::v1::Service service;
  service.metadata = {.name = "web", .namespace_ = "default", .uid = "service"};
  service.spec.selector["app"] = "web";
  service.spec.ipFamilies = {"IPv4"};
  service.spec.ports.resize(1);
  service.spec.ports[0].protocol = "TCP";
  service.spec.ports[0].port = 80;
  service.spec.ports[0].targetPort = "http";
  std::vector<pods::PodPtr> all_pods;
  for (int i = 0; i < size; ++i) all_pods.push_back(std::make_shared<const Pod>(MakePod(i, true)));
  const auto group = [&](const std::vector<pods::PodPtr>& some) {
    return controllers::GroupEndpoints(service, some,
                                       [](const std::string&) { return std::string("zone"); });
  };
  std::vector<controllers::SlicePtr> slices;
  for (auto slice : controllers::PlanSlices(service, {}, group(all_pods)).create) {
    slice.metadata.name = "web-" + std::to_string(slices.size());
    slices.push_back(std::make_shared<const cox::discovery::v1::EndpointSlice>(std::move(slice)));
  }
  all_pods[7] = std::make_shared<const Pod>(MakePod(7, false));
  const double all = Fastest(3, [&] {
    const auto plan = controllers::PlanSlices(service, slices, group(all_pods));
    (void)controllers::TriggerTime(service, slices, plan, all_pods);
  });
  const controllers::SliceIndex index(slices);
  const double one = Fastest(20, [&] {
    if (!index.HasSameVersions(slices)) std::abort();
    const auto plan = controllers::PlanChanges(service, index, {all_pods[7]->metadata.name},
                                               group({all_pods[7]}));
    (void)controllers::TriggerTime(service, plan->existing, plan->plan, {all_pods[7]});
  });
  std::printf("Service,    %6d Pods: all %9.1f us  changed %8.1f us\n", size, all, one);
  return one / all;
}

void Job(int size) {
  cox::batch::v1::Job job;
  job.metadata = {.name = "web", .namespace_ = "default", .uid = "set"};
  job.spec.parallelism = size;
  job.spec.completions = size;
  job.status.startTime = Time::FromUnix(1'790'000'000);
  std::vector<pods::PodPtr> all;
  for (int i = 0; i < size; ++i) {
    Pod pod = MakePod(i, true);
    pod.metadata.finalizers = {std::string(controllers::kTrackingFinalizer)};
    all.push_back(std::make_shared<const Pod>(std::move(pod)));
  }
  const Time now = Time::FromUnix(1'790'000'100);
  size_t sum = 0;
  const double one = Fastest(5, [&] { sum += controllers::Decide(job, all, now).create.size(); });
  std::printf("Job,        %6d Pods: sync %8.1f us  %zu\n", size, one, sum);
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  const double small = ReplicaSet(100);
  const double large = ReplicaSet(15'000);
  double part = 0;
  for (const int size : {100, 1000, 5000, 15'000}) part = Service(size);
  for (const int size : {100, 5000}) Job(size);
  bool passed = true;
  if (large > 5 * small) {
    std::printf("a change takes %.1f times as long in a large ReplicaSet (at most 5)\n",
                large / small);
    passed = false;
  }
  if (part > 0.1) {
    std::printf("a changed Pod takes %.2f of the time for all Pods of a Service (at most 0.1)\n",
                part);
    passed = false;
  }
  return check && !passed ? 1 : 0;
}
