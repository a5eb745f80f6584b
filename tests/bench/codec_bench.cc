// SPDX-License-Identifier: Apache-2.0
// Measures how fast Pods are decoded and encoded, and compares with Boost.JSON, which parses the
// same bytes into its own tree.
//
// The operations run in turns, and the median of the ratios counts. Targets: typed JSON decoding is
// as fast as the parser of Boost.JSON, and protobuf decoding is three times as fast as JSON. With
// --check the program fails below the floors, which are slightly lower than the measured values, so
// that a regression is noticed.
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "cpu_time.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"
#include "sample_pod.h"

namespace {

using cox::core::v1::Pod;

// Returns a Pod like those of a cluster. It has so many containers and container statuses that its
// JSON has about `bytes` bytes.
Pod MakePod(size_t bytes) {
  Pod pod = cox::bench::SamplePod();
  for (int i = 0; cox::json::Encode(pod).size() < bytes; ++i) {
    pod.spec.containers.push_back(cox::bench::SampleContainer(i));
    if (cox::json::Encode(pod).size() >= bytes) break;
    pod.status.containerStatuses.push_back(cox::bench::SampleContainerStatus(i));
  }
  return pod;
}

double Micros(int runs, const std::function<void()>& work) {
  const double start = cox::bench::ThreadCpuMicroseconds();
  for (int i = 0; i < runs; ++i) work();
  return (cox::bench::ThreadCpuMicroseconds() - start) / runs;
}

constexpr double kJsonTarget = 1.0, kJsonFloor = 0.85;
constexpr double kProtobufTarget = 3.0, kProtobufFloor = 1.2;

struct Measured {
  double micros;  // median
  std::vector<double> all;
};

// Runs all of `works` in turn, `rounds` times.
std::vector<Measured> Interleave(const std::vector<std::function<void()>>& works, int rounds,
                                 int runs) {
  std::vector<Measured> results(works.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < works.size(); ++i) results[i].all.push_back(Micros(runs, works[i]));
  }
  for (Measured& m : results) {
    std::vector<double> sorted = m.all;
    std::sort(sorted.begin(), sorted.end());
    m.micros = sorted[sorted.size() / 2];
  }
  return results;
}

// Median of a[i] / b[i].
double Ratio(const Measured& a, const Measured& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.all.size(); ++i) ratios.push_back(a.all[i] / b.all[i]);
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

bool Run(size_t size) {
  Pod pod = MakePod(size);
  std::string text = cox::json::Encode(pod);
  std::string bytes = cox::proto::Encode(pod);
  cox::Value value = cox::json::ToValue(pod);
  size_t guard = 0;  // prevents the compiler from removing the work
  auto results =
      Interleave({
                     [&] { guard += boost::json::parse(text).as_object().size(); },
                     [&] { guard += cox::json::Decode<Pod>(text)->spec.containers.size(); },
                     [&] { guard += cox::proto::Decode<Pod>(bytes)->spec.containers.size(); },
                     [&] { guard += cox::json::Parse(text)->as_object().size(); },
                     [&] { guard += cox::json::Encode(pod).size(); },
                     [&] { guard += cox::proto::Encode(pod).size(); },
                     [&] { guard += cox::json::ToValue(pod).as_object().size(); },
                     [&] { guard += Pod(pod).spec.containers.size(); },
                 },
                 31, static_cast<int>(2'000'000 / size));
  static constexpr const char* kNames[] = {
      "Boost.JSON parse",  "typed JSON decode", "protobuf decode", "JSON parse to Value",
      "typed JSON encode", "protobuf encode",   "struct to Value", "struct copy"};
  std::printf("Pod, %zu bytes of JSON, %zu of protobuf\n", text.size(), bytes.size());
  for (size_t i = 0; i < results.size(); ++i) {
    std::printf("  %-20s %8.2f us  %7.0f MB/s of JSON\n", kNames[i], results[i].micros,
                static_cast<double>(text.size()) / results[i].micros);
  }
  double over_boost = Ratio(results[0], results[1]);
  double over_json = Ratio(results[1], results[2]);
  std::printf("  typed JSON decode is %.2fx as fast as the Boost.JSON parse (target %.2f)\n",
              over_boost, kJsonTarget);
  std::printf("  protobuf decode is %.2fx as fast as typed JSON decode (target %.2f)\n\n",
              over_json, kProtobufTarget);
  return guard != 0 && over_boost >= kJsonFloor && over_json >= kProtobufFloor;
}

}  // namespace

int main(int argc, char** argv) {
  bool check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  bool kept = true;
  for (size_t size : {2500, 10'000}) kept = Run(size) && kept;
  if (!kept) std::puts("below a floor");
  return check && !kept ? 1 : 0;
}
