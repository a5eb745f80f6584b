// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/worker_pool.h"
#include "coxswain/event_recorder.h"
#include "kubelet/actions/backoff.h"
#include "kubelet/configs/security.h"
#include "kubelet/objects/object_source.h"
#include "kubelet/status/pod_status.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

// Where a container's image is by now.
struct ImageAnswer {
  enum class Kind : uint8_t { kHere, kPulling, kFailed };
  Kind kind = Kind::kPulling;
  std::string ref;  // kHere: what the runtime calls it
  ImageUser user;
  WaitingReason waiting;                 // kFailed
  std::optional<Clock::WallTime> again;  // kFailed: ask again then
};

// Brings the images of the node's containers, several at once.
//
// Guarantees: Ensure does not wait for a pull: it begins one and calls `changed` when that has
//   ended. A pull that failed is not tried again before its back-off (10 s, doubled up to 5 min) is
//   over. An image that is always to be pulled is pulled once for each start of a container.
// Threads: all methods may be called concurrently; for one Pod its worker calls one at a time.
//   `changed` is called on the pool's threads, without a lock.
class ImagePuller {
 public:
  struct Parts {
    runtime::Runtime& runtime;
    EventRecorder& events;
    ObjectSource& objects;
    std::function<void(const std::string& uid)> changed;
    size_t max_parallel = 8;
  };
  ImagePuller(const Context& ctx, Parts parts);

  ImageAnswer Ensure(Context& ctx, const core::v1::Pod& pod, const core::v1::Container& container,
                     uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox);
  // The Pod has gone: pulls for it end, what is remembered is dropped.
  void Forget(const std::string& uid);

 private:
  using Key = std::pair<std::string, std::string>;  // uid; container
  struct Pull {
    uint32_t attempt = 0;
    std::string image;
    enum class State : uint8_t { kNone, kRunning, kDone, kFailed } state = State::kNone;
    std::string error;
    Clock::WallTime failed{};
    bool told = false;  // that it waits
    Backoff backoff;    // by the image
    std::optional<Context> ctx;
  };
  ImageAnswer Begin(Context& ctx, const core::v1::Pod& pod, const core::v1::Container& container,
                    uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox, Context& pulling);
  ImageAnswer Waiting(const core::v1::Pod& pod, const core::v1::Container& container, Pull& pull,
                      Clock::WallTime now) COX_REQUIRES(mu_);
  ImageAnswer Here(const core::v1::Pod& pod, const core::v1::Container& container,
                   const cri::v1::Image& image, bool pulled);
  void Run(Context ctx, const core::v1::Pod& pod, const core::v1::Container& container,
           uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox);
  Status TryPull(Context& ctx, const core::v1::Pod& pod, const std::string& image,
                 const cri::v1::PodSandboxConfig& sandbox);

  const Parts parts_;
  const Context ctx_;
  Mutex mu_;
  std::map<Key, Pull> pulls_ COX_GUARDED_BY(mu_);
  WorkerPool pool_;
};

}  // namespace cox::kubelet
