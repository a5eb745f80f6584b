// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "api/load.h"
#include "api/objects.h"
#include "api/scenarios.h"

// Measures start-up time and memory of the API server.
namespace cox::bench {
namespace {

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// The total size of keys and values under /registry.
Result<int64_t> StoredBytes(Context& ctx, const Plane& plane) {
  COX_ASSIGN_OR_RETURN(auto etcd, plane.NewEtcd(ctx));
  int64_t bytes = 0;
  storage::ListOptions options;
  options.limit = 1000;
  while (true) {
    COX_ASSIGN_OR_RETURN(storage::Page page, etcd->List(ctx, "/registry/", options));
    for (const storage::KeyValue& kv : page.items) {
      bytes += static_cast<int64_t>(kv.key.size() + kv.value.size());
    }
    if (!page.more) return bytes;
    options.start = page.items.back().key + '\0';
  }
}

}  // namespace

Status StartAndIdle(Context& ctx, Setup& setup) {
  std::vector<double> seconds, cpus, sizes;
  for (int run = 0; run < setup.sizes.starts; ++run) {
    COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
    seconds.push_back(std::chrono::duration<double>(plane->startup()).count());
    cpus.push_back(std::chrono::duration<double>(plane->Cpu()).count());
    sizes.push_back(Megabytes(plane->Resident()));
  }
  char note[64];
  std::snprintf(note, sizeof note, "%.2f s of CPU", Median(cpus));
  setup.report.Add(
      {"start", "exec to /readyz, empty etcd", Median(seconds), "s", 0.3, 3, false, note});
  setup.report.Add({"start", "memory when ready", Median(sizes), "MB", 40, 80, false, ""});
  return {};
}

Status LoadedMemory(Context& ctx, Setup& setup) {
  COX_ASSIGN_OR_RETURN(auto plane, Plane::Start(ctx, setup.plane));
  const int64_t idle = plane->Resident();
  COX_RETURN_IF_ERROR(FillPods(ctx, *plane, setup.sizes.loaded_pods));
  COX_RETURN_IF_ERROR(FillConfigMaps(ctx, *plane, setup.sizes.loaded_config_maps));
  const int64_t loaded = plane->Resident();
  COX_ASSIGN_OR_RETURN(const int64_t stored, StoredBytes(ctx, *plane));
  char note[128];
  std::snprintf(note, sizeof note, "%lld pods + %lld config maps, %.1f MB stored, idle %.1f MB",
                static_cast<long long>(setup.sizes.loaded_pods),
                static_cast<long long>(setup.sizes.loaded_config_maps), Megabytes(stored),
                Megabytes(idle));
  setup.report.Add(
      {"loaded", "memory after the writes", Megabytes(loaded), "MB", 150, 300, false, note});
  COX_RETURN_IF_ERROR(plane->Restart(ctx));
  const int64_t fresh = plane->Resident();
  std::snprintf(note, sizeof note, "%.1f MB, ready after %.2f s", Megabytes(fresh),
                std::chrono::duration<double>(plane->startup()).count());
  setup.report.Add({"loaded", "(memory - idle) / stored, restarted",
                    static_cast<double>(fresh - idle) / static_cast<double>(stored), "", 1.3, 3,
                    false, note});
  return {};
}

}  // namespace cox::bench
