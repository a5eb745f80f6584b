// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "api/plane.h"
#include "api/report.h"
#include "base/context.h"

namespace cox::bench {

// The amount of work. The short form is for tests, the full one for published figures.
struct Sizes {
  bool full = false;
  int pairs = 5;           // A B A B ...
  int64_t creates = 8000;  // per side of a pair
  int64_t gets = 20'000;
  int64_t pods = 5000;  // listed
  int64_t lists = 20;
  size_t watchers = 500;
  int64_t updates = 1000;
  size_t idle_watches = 10'000;
  int64_t loaded_pods = 10'000;
  int64_t loaded_config_maps = 15'000;
  int64_t paced_updates = 2000;
  int starts = 5;

  static Sizes Short();
};

struct Setup {
  PlaneOptions plane;
  Sizes sizes;
  Report& report;
};

// A measurement with its own control plane.
struct Scenario {
  std::string_view name;
  std::string_view what;  // for the help text
  Status (*run)(Context& ctx, Setup& setup);
};

Status StartAndIdle(Context& ctx, Setup& setup);
Status CreateConfigMaps(Context& ctx, Setup& setup);
Status CreatePods(Context& ctx, Setup& setup);
Status GetPods(Context& ctx, Setup& setup);
Status Guards(Context& ctx, Setup& setup);
Status ListPods(Context& ctx, Setup& setup);
Status FanOut(Context& ctx, Setup& setup);
Status SlowWatchers(Context& ctx, Setup& setup);
Status IdleWatches(Context& ctx, Setup& setup);
Status LoadedMemory(Context& ctx, Setup& setup);
Status Overload(Context& ctx, Setup& setup);
Status CrossCheck(Context& ctx, Setup& setup);

// Writes this number of objects, 64 in flight. Every hundredth Pod has group "rare", the others
// "common".
Status FillPods(Context& ctx, const Plane& plane, int64_t count);
Status FillConfigMaps(Context& ctx, const Plane& plane, int64_t count);

// Concurrent requests.
inline constexpr int kInFlight = 64;
inline constexpr std::string_view kNamespacePath = "/api/v1/namespaces/default/";

}  // namespace cox::bench
