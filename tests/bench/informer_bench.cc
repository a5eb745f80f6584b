// SPDX-License-Identifier: Apache-2.0
// Measures an informer that holds all Pods of a real API server with a real etcd:
//   informer_bench --binary build/release/src/cmd/coxswain [--pods N] [--check]
//
// Pods of about 10 KB are created and get a status. Then each variant of the cache runs in its own
// process over HTTPS, like an operator. The output is the time to sync and the resident memory
// relative to the size of the same Pods in a JSON list: the peak, and the value after memory that
// only the start needed is returned. With --check it fails above the targets.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "api/load.h"
#include "api/objects.h"
#include "api/plane.h"
#include "base/clock.h"
#include "base/heap.h"
#include "coxswain/cache.h"
#include "net/tls.h"
#include "object/codec/json/json.h"
#include "sample_pod.h"

namespace cox::bench {
namespace {

using core::v1::Pod;

constexpr int kInFlight = 64;
constexpr char kPath[] = "/api/v1/namespaces/default/pods";

struct Way {
  const char* name;
  bool metadata;
  CacheScope::Keep keep;
  bool managed_fields;
  double target;  // times the JSON
};

constexpr Way kWays[] = {
    {"structs", false, CacheScope::Keep::kObjects, true, 2},
    {"structs-stripped", false, CacheScope::Keep::kObjects, false, 2},
    {"bytes", false, CacheScope::Keep::kBytes, true, 1.2},
    {"metadata", true, CacheScope::Keep::kObjects, false, 0.15},
};

// The result of one variant, printed by the child.
struct Taken {
  double seconds = 0;
  double before = 0, peak = 0, after = 0;  // bytes in RAM
  int64_t objects = 0;
};

double StatusBytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stod(line.substr(std::strlen(field) + 1)) * 1024;
  }
  return 0;
}

// The child process: one informer.
Status Hold(const Way& way, const std::string& url) {
  RealClock clock;
  Context ctx = Context(clock).WithTimeout(std::chrono::minutes(5));
  Config config;
  config.server = url;
  config.insecure_skip_tls_verify = true;
  config.token = Secret<std::string>(std::string(Plane::kToken));
  COX_ASSIGN_OR_RETURN(const std::shared_ptr<Client> client, Connect(ctx, config));
  CacheOptions options;
  options.defaults.keep = way.keep;
  options.defaults.managed_fields = way.managed_fields;
  const auto cache = Cache::Create(ctx, *client, options);
  const auto inform = [&](const Resource& of) {
    return way.metadata ? cache->GetMetadata(of) : cache->Get(of);
  };
  // Connection, threads and code are not part of the objects' memory: an informer without objects
  // includes them all.
  const auto none = inform(Resource::Of<core::v1::Node>());
  COX_RETURN_IF_ERROR(cache->WaitForSync(ctx));
  Taken taken;
  taken.before = StatusBytes("VmRSS:");
  const Clock::SteadyTime began = clock.Monotonic();
  const auto informer = inform(Resource::Of<Pod>());
  COX_RETURN_IF_ERROR(cache->WaitForSync(ctx));
  taken.seconds = std::chrono::duration<double>(clock.Monotonic() - began).count();
  malloc_trim(0);
  std::printf("%f %f %f %f %zu\n", taken.seconds, taken.before, StatusBytes("VmHWM:"),
              StatusBytes("VmRSS:"), informer->size());
  return {};
}

Result<Taken> Measure(const Way& way, const Plane& plane) {
  const std::string said = plane.folder() + "/" + way.name;
  COX_ASSIGN_OR_RETURN(
      const std::unique_ptr<storage::Child> child,
      storage::Child::Start({"/proc/self/exe", "--hold", way.name, plane.url()}, said));
  child->Wait();
  std::ifstream in(said);
  Taken taken;
  if (!(in >> taken.seconds >> taken.before >> taken.peak >> taken.after >> taken.objects)) {
    in.clear();
    in.seekg(0);
    std::string why;
    std::getline(in, why);
    return Status::Internal(std::string(way.name) + " failed: " + why);
  }
  return taken;
}

// The Pod that is sent: with the defaults and managedFields of the API server it has 10 KB.
Pod NewPod() {
  Pod pod = SamplePod();
  pod.metadata = {.labels = pod.metadata.labels, .annotations = pod.metadata.annotations};
  pod.spec.volumes.resize(1);
  pod.spec.volumes[0].name = "kube-api-access-abcde";
  pod.spec.volumes[0].volumeSource.emptyDir.emplace();
  for (int i = 0; i < 2; ++i) pod.spec.containers.push_back(SampleContainer(i));
  for (int i = 0; i < 26; ++i) {
    pod.spec.containers[static_cast<size_t>(i % 2)].env.push_back(
        {.name = "CHECKOUT_SETTING_" + std::to_string(i),
         .value = "https://payments.example.com/v1/"});
  }
  return pod;
}

Status Fill(Context& ctx, const Plane& plane, int64_t pods) {
  COX_ASSIGN_OR_RETURN(auto client, plane.NewClient(ctx));
  const Pod sample = NewPod();
  const auto named = [&sample](int64_t i) {
    Pod pod = sample;
    pod.metadata.name = NumberedName("checkout", i);
    pod.spec.nodeName = NumberedName("node", i % 1000);
    return pod;
  };
  Load load = Drive(ctx, *client, pods, kInFlight, [&](int64_t i) {
    return plane.NewRequest("POST", kPath, json::Encode(named(i)));
  });
  if (load.failures > 0) return Status::Internal("create: " + load.first_failure);
  Pod running;
  running.status = sample.status;
  for (int i = 0; i < 2; ++i) {
    running.status.containerStatuses.push_back(SampleContainerStatus(i));
  }
  const std::string status = json::Encode(running);
  load = Drive(ctx, *client, pods, kInFlight, [&](int64_t i) {
    net::Request request = plane.NewRequest(
        "PATCH", kPath + ("/" + NumberedName("checkout", i)) + "/status?fieldManager=kubelet",
        status);
    request.headers.Set("content-type", "application/strategic-merge-patch+json");
    return request;
  });
  if (load.failures > 0) return Status::Internal("status: " + load.first_failure);
  return {};
}

// The size of all Pods in a JSON list.
Result<double> JsonBytes(Context& ctx, const Plane& plane) {
  COX_ASSIGN_OR_RETURN(auto client, plane.NewClient(ctx, 1));
  const Load load = Drive(ctx, *client, 1, 1, [&](int64_t) {
    return plane.NewRequest("GET", std::string(kPath) + "?resourceVersion=0");
  });
  if (load.failures > 0) return Status::Internal("list: " + load.first_failure);
  return static_cast<double>(load.bytes);
}

Result<bool> Compare(const std::string& binary, int64_t pods) {
  RealClock clock;
  Context ctx = Context(clock).WithTimeout(std::chrono::minutes(15));
  COX_ASSIGN_OR_RETURN(const auto plane, Plane::Start(ctx, {.binary = binary, .fsync = false}));
  COX_RETURN_IF_ERROR(Fill(ctx, *plane, pods));
  COX_ASSIGN_OR_RETURN(const double json, JsonBytes(ctx, *plane));
  std::printf("%lld Pods of %.0f B JSON, %.1f MB in all; API server %.1f MB\n",
              static_cast<long long>(pods), json / static_cast<double>(pods), json / 1e6,
              static_cast<double>(plane->Resident()) / 1e6);
  bool kept = true;
  for (const Way& way : kWays) {
    COX_ASSIGN_OR_RETURN(const Taken taken, Measure(way, *plane));
    if (taken.objects != pods) return Status::Internal("not all Pods came");
    // Without this subtraction, the program would dominate the result for few Pods.
    const double ratio = (taken.after - taken.before) / json;
    std::printf(
        "%-18s synced in %6.2f s, peak %7.1f MB, then %7.1f MB, program %5.1f MB: %.2fx "
        "JSON (target %.2f)%s\n",
        way.name, taken.seconds, taken.peak / 1e6, taken.after / 1e6, taken.before / 1e6, ratio,
        way.target, ratio > way.target ? "   MISSED" : "");
    std::fflush(stdout);
    kept &= ratio <= way.target;
  }
  return kept;
}

}  // namespace
}  // namespace cox::bench

int main(int argc, char** argv) {
  cox::net::PrepareTls();
  const auto text = [&](int i) { return i < argc ? std::string(argv[i]) : std::string(); };
  if (text(1) == "--hold") {
    cox::BoundHeap();  // like RunOperator
    for (const cox::bench::Way& way : cox::bench::kWays) {
      if (text(2) != way.name) continue;
      const cox::Status status = cox::bench::Hold(way, text(3));
      if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
      return status.ok() ? 0 : 1;
    }
    return 2;
  }
  std::string binary = std::getenv("COX_BIN") == nullptr ? "" : std::getenv("COX_BIN");
  int64_t pods = 3'000;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    if (text(i) == "--check") check = true;
    if (text(i) == "--binary") binary = text(++i);
    if (text(i) == "--pods") pods = std::atoll(text(++i).c_str());
  }
  if (binary.empty() || !cox::storage::EtcdServer::Available()) {
    std::printf("SKIP: needs --binary and an etcd program\n");
    return 77;
  }
  const cox::Result<bool> kept = cox::bench::Compare(binary, pods);
  if (!kept.ok()) std::printf("%s\n", kept.status().ToString().c_str());
  return kept.ok() && (*kept || !check) ? 0 : 1;
}
