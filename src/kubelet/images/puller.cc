// SPDX-License-Identifier: Apache-2.0
#include "kubelet/images/puller.h"

#include <algorithm>

#include "base/strings.h"
#include "kubelet/images/credentials.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;

namespace {

constexpr std::string_view kAction = "Pulling";

// How long ErrImagePull is reported before ImagePullBackOff.
constexpr std::chrono::seconds kErrorShown{5};

std::string PolicyOf(const Container& container) {
  if (!container.imagePullPolicy.empty()) return container.imagePullPolicy;
  const bool latest = WithDefaultTag(container.image).ends_with(":latest");
  return latest ? "Always" : "IfNotPresent";
}

cri::v1::ImageSpec SpecOf(const std::string& image) {
  return {.image = WithDefaultTag(image), .user_specified_image = image};
}

}  // namespace

ImagePuller::ImagePuller(const Context& ctx, Parts parts)
    : parts_(std::move(parts)),
      ctx_(ctx),
      pool_(ctx, {.name = "image-pull", .max_threads = parts_.max_parallel}) {}

PullResult ImagePuller::Here(const Pod& pod, const Container& container,
                             const cri::v1::Image& image, bool pulled) {
  if (!pulled) {
    parts_.events.Record(pod, EventKind::kNormal, "Pulled", kAction,
                         "Container image " + Quote(container.image) +
                             " already present on machine and can be accessed by the pod");
  }
  PullResult answer{.kind = PullResult::Kind::kHere, .ref = image.id, .again = {}};
  if (image.uid) answer.user.uid = image.uid->value;
  answer.user.name = image.username;
  return answer;
}

PullResult ImagePuller::Waiting(const Pod& pod, const Container& container, Pull& pull,
                                Clock::WallTime now) {
  PullResult answer{.kind = PullResult::Kind::kFailed, .again = {}};
  if (now < pull.failed + kErrorShown) {
    answer.waiting = {"ErrImagePull", pull.error};
    answer.again = pull.failed + kErrorShown;
    return answer;
  }
  const std::string text = "Back-off pulling image " + Quote(container.image);
  if (!std::exchange(pull.event_recorded, true)) {
    parts_.events.Record(pod, EventKind::kNormal, "BackOff", kAction, text);
    parts_.events.Record(pod, EventKind::kWarning, "Failed", kAction, "Error: ImagePullBackOff");
  }
  answer.waiting = {"ImagePullBackOff", text + ": " + pull.error};
  answer.again = pull.failed + std::chrono::duration_cast<Clock::WallTime::duration>(
                                   pull.backoff.Delay(pull.image));
  return answer;
}

PullResult ImagePuller::Ensure(Context& ctx, const Pod& pod, const Container& container,
                               uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox) {
  const std::string policy = PolicyOf(container);
  bool pulled = false;
  {
    MutexLock lock(mu_);
    Pull& pull = pulls_[{pod.metadata.uid, container.name}];
    if (pull.image != container.image) {
      if (pull.ctx) pull.ctx->Stop();
      pull = Pull{.attempt = attempt, .image = container.image};
    }
    const Clock::WallTime now = ctx.clock().Now();
    if (pull.state == Pull::State::kRunning) return {};
    if (pull.state == Pull::State::kFailed &&
        pull.backoff.Remaining(pull.image, pull.failed, now) > Clock::Duration()) {
      return Waiting(pod, container, pull, now);
    }
    pulled = pull.state == Pull::State::kDone && pull.attempt == attempt;
  }
  const Result<std::optional<cri::v1::Image>> image =
      parts_.runtime.GetImage(ctx, SpecOf(container.image));
  if (!image.ok()) {
    return {.kind = PullResult::Kind::kFailed,
            .waiting = {"ImageInspectError", "Failed to inspect image " + Quote(container.image) +
                                                 ": " + image.status().message()},
            .again = {}};
  }
  if (*image && (pulled || policy != "Always")) return Here(pod, container, **image, pulled);
  if (policy == "Never") {
    const std::string text =
        "Container image " + Quote(container.image) + " is not present with pull policy of Never";
    parts_.events.Record(pod, EventKind::kWarning, "ErrImageNeverPull", kAction, text);
    return {.kind = PullResult::Kind::kFailed,
            .waiting = {"ErrImageNeverPull", text},
            .again = ctx.clock().Now() + std::chrono::seconds(30)};
  }
  Context pulling = ctx_.Child();
  return Begin(ctx, pod, container, attempt, sandbox, pulling);
}

PullResult ImagePuller::Begin(Context& ctx, const Pod& pod, const Container& container,
                              uint32_t attempt, const cri::v1::PodSandboxConfig& sandbox,
                              Context& pulling) {
  {
    MutexLock lock(mu_);
    Pull& pull = pulls_[{pod.metadata.uid, container.name}];
    pull.state = Pull::State::kRunning;
    pull.attempt = attempt;
    pull.event_recorded = false;
    pull.ctx = pulling;
  }
  parts_.events.Record(pod, EventKind::kNormal, "Pulling", kAction,
                       "Pulling image " + Quote(container.image));
  if (!pool_.Submit([this, pulling, pod, container, attempt, sandbox] {
        Run(pulling, pod, container, attempt, sandbox);
      })) {
    MutexLock lock(mu_);
    pulls_[{pod.metadata.uid, container.name}].state = Pull::State::kNone;
    return {.kind = PullResult::Kind::kFailed,
            .waiting = {"ErrImagePull", "too many images are being pulled"},
            .again = ctx.clock().Now() + std::chrono::seconds(10)};
  }
  return {};
}

// Tries each credential, then none; returns the last error with a credential if all fail.
Status ImagePuller::TryPull(Context& ctx, const Pod& pod, const std::string& image,
                            const cri::v1::PodSandboxConfig& sandbox) {
  std::vector<std::shared_ptr<const core::v1::Secret>> secrets;
  for (const core::v1::LocalObjectReference& reference : pod.spec.imagePullSecrets) {
    // A missing secret is not fatal, because the image may be public.
    const auto secret = parts_.objects.GetSecret(ctx, {pod.metadata.namespace_, reference.name});
    if (secret.ok()) secrets.push_back(*secret);
  }
  const cri::v1::ImageSpec spec = SpecOf(image);
  Status last;
  for (const cri::v1::AuthConfig& auth : CredentialsFor(image, secrets)) {
    last = parts_.runtime.PullImage(ctx, spec, &auth, sandbox).status();
    if (last.ok() || ctx.Done()) return last;
  }
  const Status bare = parts_.runtime.PullImage(ctx, spec, nullptr, sandbox).status();
  return bare.ok() || last.ok() ? bare : last;
}

void ImagePuller::Run(Context ctx, const Pod& pod, const Container& container, uint32_t attempt,
                      const cri::v1::PodSandboxConfig& sandbox) {
  const Clock::SteadyTime began = ctx.clock().Monotonic();
  const Status status = TryPull(ctx, pod, container.image, sandbox);
  std::string error;
  if (status.ok()) {
    const std::string took = FormatDuration(
        std::chrono::duration_cast<std::chrono::milliseconds>(ctx.clock().Monotonic() - began));
    const auto image = parts_.runtime.GetImage(ctx, SpecOf(container.image));
    const int64_t size = image.ok() && *image ? static_cast<int64_t>((*image)->size) : 0;
    parts_.events.Record(
        pod, EventKind::kNormal, "Pulled", kAction,
        "Successfully pulled image " + Quote(container.image) + " in " + took + " (" + took +
            " including waiting). Image size: " + std::to_string(size) + " bytes.");
  } else {
    error = "failed to pull image " + Quote(container.image) + ": " + status.message();
    if (!ctx.Done()) {
      parts_.events.Record(
          pod, EventKind::kWarning, "Failed", kAction,
          "Failed to pull image " + Quote(container.image) + ": " + status.message());
      parts_.events.Record(pod, EventKind::kWarning, "Failed", kAction, "Error: ErrImagePull");
    }
  }
  {
    MutexLock lock(mu_);
    const auto found = pulls_.find({pod.metadata.uid, container.name});
    if (found == pulls_.end() || found->second.image != container.image ||
        found->second.attempt != attempt) {
      return;
    }
    Pull& pull = found->second;
    pull.ctx.reset();
    if (status.ok()) {
      pull.state = Pull::State::kDone;
      pull.backoff.Forget(pull.image);
    } else {
      const Clock::WallTime now = ctx.clock().Now();
      pull.state = Pull::State::kFailed;
      pull.error = std::move(error);
      pull.failed = now;
      pull.backoff.Began(pull.image, now, now);
    }
  }
  parts_.changed(pod.metadata.uid);
}

void ImagePuller::Forget(const std::string& uid) {
  MutexLock lock(mu_);
  for (auto at = pulls_.lower_bound({uid, ""}); at != pulls_.end() && at->first.first == uid;) {
    if (at->second.ctx) at->second.ctx->Stop();
    at = pulls_.erase(at);
  }
}

}  // namespace cox::kubelet
