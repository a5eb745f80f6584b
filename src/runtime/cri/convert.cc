// SPDX-License-Identifier: Apache-2.0
#include "runtime/cri/convert.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "runtime/labels.h"

namespace cox::runtime {
namespace {

// CRI times are nanoseconds since 1970; 0: never.
Clock::WallTime ToTime(int64_t nanos) {
  return Clock::WallTime(
      std::chrono::duration_cast<Clock::WallTime::duration>(std::chrono::nanoseconds(nanos)));
}

ContainerState::Phase ToPhase(cri::v1::ContainerState state) {
  switch (state) {
    case cri::v1::kContainerStateCreated:
      return ContainerState::Phase::kCreated;
    case cri::v1::kContainerStateRunning:
      return ContainerState::Phase::kRunning;
    case cri::v1::kContainerStateExited:
      return ContainerState::Phase::kExited;
    default:
      return ContainerState::Phase::kUnknown;
  }
}

// The image name of the Pod's spec, if the runtime reports it.
std::string ImageName(const Box<cri::v1::ImageSpec>& image) {
  if (!image) return {};
  return image->user_specified_image.empty() ? image->image : image->user_specified_image;
}

SandboxState FromList(const cri::v1::PodSandbox& sandbox) {
  SandboxState state;
  state.id = sandbox.id;
  if (sandbox.metadata) state.attempt = static_cast<uint32_t>(sandbox.metadata->attempt);
  state.ready = sandbox.state == cri::v1::kPodSandboxStateReady;
  state.created = ToTime(sandbox.created_at);
  return state;
}

// The fields common to listed containers and container statuses.
template <class Container>
ContainerState Common(const Container& container) {
  ContainerState state;
  state.id = container.id;
  if (container.metadata) {
    state.name = container.metadata->name;
    state.attempt = static_cast<uint32_t>(container.metadata->attempt);
  }
  state.phase = ToPhase(container.state);
  state.image = ImageName(container.image);
  state.image_id = container.image_ref.empty() ? container.image_id : container.image_ref;
  state.created = ToTime(container.created_at);
  state.spec_hash = HashOf(container.annotations);
  return state;
}

template <class State>
void NewestFirst(std::vector<State>* states) {
  std::stable_sort(states->begin(), states->end(), [](const State& a, const State& b) {
    return std::pair(a.attempt, a.created) > std::pair(b.attempt, b.created);
  });
}

}  // namespace

void Sort(PodState* pod) {
  NewestFirst(&pod->sandboxes);
  NewestFirst(&pod->containers);
}

std::vector<PodState> GroupByPod(const List<cri::v1::PodSandbox>& sandboxes,
                                 const List<cri::v1::Container>& containers) {
  std::map<std::string, PodState> pods;
  const auto pod_of = [&pods](const Map<std::string>& labels) -> PodState* {
    PodName name = PodOf(labels);
    if (name.uid.empty()) return nullptr;
    PodState& pod = pods[name.uid];
    pod.uid = std::move(name.uid);
    pod.ns = std::move(name.ns);
    pod.name = std::move(name.name);
    return &pod;
  };
  for (const cri::v1::PodSandbox& sandbox : sandboxes) {
    if (PodState* pod = pod_of(sandbox.labels)) pod->sandboxes.push_back(FromList(sandbox));
  }
  for (const cri::v1::Container& container : containers) {
    if (PodState* pod = pod_of(container.labels)) pod->containers.push_back(Common(container));
  }
  std::vector<PodState> result;
  result.reserve(pods.size());
  for (auto& [uid, pod] : pods) {
    Sort(&pod);
    result.push_back(std::move(pod));
  }
  return result;
}

SandboxState ToState(const cri::v1::PodSandboxStatus& status) {
  SandboxState state;
  state.id = status.id;
  if (status.metadata) state.attempt = static_cast<uint32_t>(status.metadata->attempt);
  state.ready = status.state == cri::v1::kPodSandboxStateReady;
  state.created = ToTime(status.created_at);
  if (status.network && !status.network->ip.empty()) {
    state.ips.push_back(status.network->ip);
    for (const cri::v1::PodIP& more : status.network->additional_ips) state.ips.push_back(more.ip);
  }
  return state;
}

ContainerState ToState(const cri::v1::ContainerStatus& status) {
  ContainerState state = Common(status);
  state.started = ToTime(status.started_at);
  state.finished = ToTime(status.finished_at);
  state.exit_code = status.exit_code;
  state.reason = status.reason;
  state.message = status.message;
  return state;
}

std::optional<ContainerEvent> ToEvent(const cri::v1::ContainerEventResponse& event) {
  using Kind = ContainerEvent::Kind;
  constexpr Kind kKinds[] = {Kind::kCreated, Kind::kStarted, Kind::kStopped, Kind::kDeleted};
  if (event.container_event_type < 0 ||
      event.container_event_type >= static_cast<int32_t>(std::size(kKinds))) {
    return std::nullopt;
  }
  ContainerEvent result;
  result.kind = kKinds[event.container_event_type];
  result.container_id = event.container_id;
  PodName name;
  if (event.pod_sandbox_status) name = PodOf(event.pod_sandbox_status->labels);
  for (const cri::v1::ContainerStatus& status : event.containers_statuses) {
    if (name.uid.empty()) name = PodOf(status.labels);
  }
  if (name.uid.empty()) return std::nullopt;
  result.pod_uid = name.uid;
  if (!event.pod_sandbox_status) return result;
  PodState pod{
      .uid = name.uid, .ns = name.ns, .name = name.name, .sandboxes = {}, .containers = {}};
  pod.sandboxes.push_back(ToState(*event.pod_sandbox_status));
  for (const cri::v1::ContainerStatus& status : event.containers_statuses) {
    pod.containers.push_back(ToState(status));
  }
  Sort(&pod);
  result.state = std::move(pod);
  return result;
}

Status CallError(std::string_view method, int code, std::string_view text) {
  const std::string message =
      std::string(method.substr(method.rfind('/') + 1)) + ": " + std::string(text);
  switch (code) {
    case 3:  // InvalidArgument
      return Status::BadRequest(message);
    case 4:  // DeadlineExceeded
      return Status::Timeout(message);
    case 5:
      return Status::NotFound(message);
    case 6:
      return Status::AlreadyExists(message);
    case 7:   // PermissionDenied
    case 16:  // Unauthenticated
      return Status::Forbidden(message);
    case 8:   // ResourceExhausted
    case 14:  // Unavailable
      return Status::Unavailable(message);
    case 12:  // Unimplemented
      return {Reason::kMethodNotAllowed, message};
    default:
      return Status::Internal(message);
  }
}

}  // namespace cox::runtime
