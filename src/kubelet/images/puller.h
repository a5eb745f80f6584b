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
#include "kubelet/images/pull_records.h"
#include "kubelet/objects/object_source.h"
#include "kubelet/status/pod_status.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

// The state of a container's image.
struct PullResult {
  enum class Kind : uint8_t { kHere, kPulling, kFailed };
  Kind kind = Kind::kPulling;
  std::string ref;  // kHere: the runtime's id of the image
  ImageUser user;
  WaitingReason waiting;                 // kFailed
  std::optional<Clock::WallTime> again;  // kFailed: when to retry
};

// Pulls the images of containers, several in parallel.
//
// Guarantees: Ensure does not block on a pull: it starts one, which calls `changed` at its end. A
//   failed pull is not retried before its backoff (10 s, doubled up to 5 min) is over. With the
//   policy Always, an image is pulled once for each start of a container. A Pod without the
//   credentials for a private image cannot use it, even if it is on the node (PullRecords).
// Threads: all methods may be called concurrently; for one Pod its worker calls one at a time.
//   `changed` is called on the pool's threads, without a lock.
class ImagePuller {
 public:
  struct Parts {
    runtime::Runtime& runtime;
    EventRecorder& events;
    ObjectSource& objects;
    PullRecords& records;
    std::function<void(const std::string& uid)> changed;
    size_t max_parallel = 8;
  };
  ImagePuller(const Context& ctx, Parts parts);

  PullResult Ensure(Context& ctx, const core::v1::Pod& pod, const core::v1::Container& container,
                    uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox);
  // Called when the Pod is gone: cancels its pulls and drops its state.
  void Forget(const std::string& uid);

 private:
  using Key = std::pair<std::string, std::string>;  // uid; container
  struct Pull {
    uint32_t attempt = 0;
    std::string image;
    enum class State : uint8_t { kNone, kRunning, kDone, kFailed } state = State::kNone;
    std::string error;
    Clock::WallTime failed{};
    bool event_recorded = false;  // the BackOff event was recorded
    Backoff backoff;              // keyed by image
    std::optional<Context> ctx;
  };
  PullResult Begin(Context& ctx, const core::v1::Pod& pod, const core::v1::Container& container,
                   uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox, Context& pulling);
  PullResult Waiting(const core::v1::Pod& pod, const core::v1::Container& container, Pull& pull,
                     Clock::WallTime now) COX_REQUIRES(mu_);
  PullResult Here(const core::v1::Pod& pod, const core::v1::Container& container,
                  const cri::v1::Image& image, bool pulled);
  void Run(Context ctx, const core::v1::Pod& pod, const core::v1::Container& container,
           uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox);
  Result<cri::v1::Image> PullRecorded(Context& ctx, const core::v1::Pod& pod,
                                      const std::string& name,
                                      const cri::v1::PodSandboxConfig& sandbox);
  Status TryPull(Context& ctx, const core::v1::Pod& pod, const std::string& image,
                 const cri::v1::PodSandboxConfig& sandbox, std::optional<ImageCredential>* used);
  // The credentials in the Pod's imagePullSecrets for the image.
  std::vector<ImageCredential> CredentialsOf(Context& ctx, const core::v1::Pod& pod,
                                             const std::string& image);
  // Whether the Pod may use an image that is on the node without pulling it.
  bool MayUse(Context& ctx, const core::v1::Pod& pod, const std::string& name,
              const cri::v1::Image& image);

  const Parts parts_;
  const Context ctx_;
  Mutex mu_;
  std::map<Key, Pull> pulls_ COX_GUARDED_BY(mu_);
  WorkerPool pool_;
};

}  // namespace cox::kubelet
