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
// For the state of an image after a pull that failed.
constexpr std::chrono::seconds kCheckTime{10};

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
  if (*image && (pulled || (policy != "Always" && MayUse(ctx, pod, container.image, **image)))) {
    return Here(pod, container, **image, pulled);
  }
  if (policy == "Never") {
    const std::string text =
        *image ? "Container image " + Quote(container.image) +
                     " is present with pull policy of Never but does not have the proper "
                     "credentials to access it"
               : "Container image " + Quote(container.image) +
                     " is not present with pull policy of Never";
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

std::vector<ImageCredential> ImagePuller::CredentialsOf(Context& ctx, const Pod& pod,
                                                        const std::string& image) {
  std::vector<std::shared_ptr<const core::v1::Secret>> secrets;
  for (const core::v1::LocalObjectReference& reference : pod.spec.imagePullSecrets) {
    // A missing secret is not fatal, because the image may be public.
    const auto secret = parts_.objects.GetSecret(ctx, {pod.metadata.namespace_, reference.name});
    if (secret.ok()) secrets.push_back(*secret);
  }
  return CredentialsFor(image, secrets);
}

bool ImagePuller::MayUse(Context& ctx, const Pod& pod, const std::string& name,
                         const cri::v1::Image& image) {
  switch (parts_.records.AccessTo(name, image.id)) {
    case PullRecords::Access::kAllowed:
      return true;
    case PullRecords::Access::kDenied:
      return false;
    case PullRecords::Access::kByCredential:
      break;
  }
  return parts_.records.IsAllowed(name, image.id, CredentialsOf(ctx, pod, name));
}

// Tries each credential, then none; returns the last error with a credential if all fail.
Status ImagePuller::TryPull(Context& ctx, const Pod& pod, const std::string& image,
                            const cri::v1::PodSandboxConfig& sandbox,
                            std::optional<ImageCredential>* used) {
  const cri::v1::ImageSpec spec = SpecOf(image);
  Status last;
  for (ImageCredential& credential : CredentialsOf(ctx, pod, image)) {
    last = parts_.runtime.PullImage(ctx, spec, &credential.auth, sandbox).status();
    if (last.ok()) *used = std::move(credential);
    if (last.ok() || ctx.Done()) return last;
  }
  const Status bare = parts_.runtime.PullImage(ctx, spec, nullptr, sandbox).status();
  return bare.ok() || last.ok() ? bare : last;
}

// Pulls the image and records with which credential.
Result<cri::v1::Image> ImagePuller::PullRecorded(Context& ctx, const Pod& pod,
                                                 const std::string& name,
                                                 const cri::v1::PodSandboxConfig& sandbox) {
  COX_RETURN_IF_ERROR(parts_.records.Begin(name));
  const auto before = parts_.runtime.GetImage(ctx, SpecOf(name));
  std::optional<ImageCredential> used;
  if (Status pulled = TryPull(ctx, pod, name, sandbox, &used); !pulled.ok()) {
    // The runtime may have pulled the image although the call was cancelled or had no response.
    Context checking = ctx_.WithTimeout(kCheckTime);
    const auto after = parts_.runtime.GetImage(checking, SpecOf(name));
    const bool unchanged =
        after.ok() && (!*after || (before.ok() && *before && (*before)->id == (*after)->id));
    unchanged ? parts_.records.Failed(name) : parts_.records.Abandoned(name);
    return pulled;
  }
  Result<std::optional<cri::v1::Image>> image = parts_.runtime.GetImage(ctx, SpecOf(name));
  if (!image.ok() || !*image) {
    parts_.records.Abandoned(name);
    return image.ok() ? Status::Internal("the pulled image does not exist") : image.status();
  }
  COX_RETURN_IF_ERROR(parts_.records.Succeeded(name, (*image)->id, used ? &*used : nullptr));
  return **std::move(image);
}

void ImagePuller::Run(Context ctx, const Pod& pod, const Container& container, uint32_t attempt,
                      const cri::v1::PodSandboxConfig& sandbox) {
  const Clock::SteadyTime began = ctx.clock().Monotonic();
  const Result<cri::v1::Image> image = PullRecorded(ctx, pod, container.image, sandbox);
  const Status status = image.status();
  std::string error;
  if (status.ok()) {
    const std::string took = FormatDuration(
        std::chrono::duration_cast<std::chrono::milliseconds>(ctx.clock().Monotonic() - began));
    const auto size = static_cast<int64_t>(image->size);
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
