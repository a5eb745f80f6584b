// SPDX-License-Identifier: Apache-2.0
#include "runtime/testing/fake_runtime.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/async.h"
#include "runtime/labels.h"

namespace cox::runtime {

using Phase = ContainerState::Phase;

struct FakeRuntime::Feed {
  Mutex mu;
  CondVar changed;
  std::deque<ContainerEvent> events COX_GUARDED_BY(mu);
  bool broken COX_GUARDED_BY(mu) = false;
};

class FakeRuntime::Stream final : public EventStream {
 public:
  explicit Stream(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
  Result<ContainerEvent> Next(const Context& ctx) override {
    Feed& feed = *feed_;
    MutexLock lock(feed.mu);
    COX_RETURN_IF_ERROR(ctx.Await(feed.mu, feed.changed, [&feed]() {
      feed.mu.AssertHeld();
      return !feed.events.empty() || feed.broken;
    }));
    if (feed.events.empty()) return Status::Unavailable("the stream of container events ended");
    ContainerEvent event = std::move(feed.events.front());
    feed.events.pop_front();
    return event;
  }

 private:
  const std::shared_ptr<Feed> feed_;
};

namespace {

// The usage of every container and sandbox.
const cri::v1::UInt64Value kCpuNanos{.value = 1'000'000'000};
const cri::v1::UInt64Value kWorkingSet{.value = 1 << 20};

Status NotThere(const std::string& what, const std::string& id) {
  return Status::NotFound(what + " \"" + id + "\" not found");
}

std::string ImageId(const std::string& name) { return "sha256:" + name; }

// The name of an image that is given by name or by ID.
std::string ImageName(const std::string& ref) {
  return ref.starts_with("sha256:") ? ref.substr(7) : ref;
}

cri::v1::Image MakeImage(const std::string& name, int64_t user) {
  return {.id = ImageId(name),
          .repo_tags = {name},
          .size = 1,
          .uid = cri::v1::Int64Value{.value = user}};
}

}  // namespace

void FakeRuntime::Publish(const std::string& name, int64_t user) {
  MutexLock lock(mu_);
  published_[name] = user;
}

void FakeRuntime::Exit(const std::string& id, int32_t code, std::string reason) {
  MutexLock lock(mu_);
  const auto at = containers_.find(id);
  if (at != containers_.end()) End(id, &at->second, code, std::move(reason));
}

void FakeRuntime::FailNext(const std::string& method, Status why) {
  MutexLock lock(mu_);
  failures_[method].push_back(std::move(why));
}

void FakeRuntime::SetStatus(RuntimeStatus status) {
  MutexLock lock(mu_);
  status_ = std::move(status);
}

void FakeRuntime::SetExec(ExecFunction exec) {
  MutexLock lock(mu_);
  exec_ = std::move(exec);
}

// A command that does not end until it is released, or until its time or context ends.
struct FakeRuntime::HeldCommand {
  explicit HeldCommand(const Context& parent) : ctx(parent.Child()) {}
  Context ctx;
  std::atomic<bool> released = false;
};

void FakeRuntime::SetUnresponsive(bool on) {
  std::vector<std::shared_ptr<HeldCommand>> released;
  {
    MutexLock lock(mu_);
    unresponsive_ = on;
    if (!on) released.swap(held_);
  }
  for (const std::shared_ptr<HeldCommand>& command : released) {
    command->released = true;
    command->ctx.Stop();
  }
}

void FakeRuntime::SetStreamServer(std::string url) {
  MutexLock lock(mu_);
  stream_server_ = std::move(url);
}

void FakeRuntime::HoldPulls(bool on) {
  MutexLock lock(mu_);
  hold_pulls_ = on;
  changed_.NotifyAll();
}

std::vector<std::string> FakeRuntime::calls() const {
  MutexLock lock(mu_);
  return calls_;
}

cri::v1::ContainerConfig FakeRuntime::ConfigOf(const std::string& id) const {
  MutexLock lock(mu_);
  return containers_.at(id).config;
}

void FakeRuntime::BreakEvents() {
  MutexLock lock(mu_);
  for (const std::weak_ptr<Feed>& weak : feeds_) {
    const std::shared_ptr<Feed> feed = weak.lock();
    if (feed == nullptr) continue;
    MutexLock feed_lock(feed->mu);
    feed->broken = true;
    feed->changed.NotifyAll();
  }
  feeds_.clear();
}

Status FakeRuntime::Begin(const Context& ctx, const std::string& method) {
  COX_RETURN_IF_ERROR(ctx.status());
  const auto at = failures_.find(method);
  if (at == failures_.end() || at->second.empty()) return {};
  Status why = std::move(at->second.front());
  at->second.pop_front();
  return why;
}

void FakeRuntime::Note(const std::string& method, const std::string& what) {
  calls_.push_back(method + " " + what);
  changed_.NotifyAll();
}

Result<FakeRuntime::Container*> FakeRuntime::Find(const std::string& id) {
  const auto at = containers_.find(id);
  if (at == containers_.end()) return NotThere("container", id);
  return &at->second;
}

std::string FakeRuntime::NameOf(const Container& container) const {
  return PodOf(container.config.labels).name + "/" + container.state.name;
}

void FakeRuntime::End(const std::string& id, Container* container, int32_t code,
                      std::string reason) {
  if (container->state.phase != Phase::kRunning) return;
  ContainerState& state = container->state;
  state.phase = Phase::kExited;
  state.finished = clock_.Now();
  state.exit_code = code;
  state.reason = !reason.empty() ? std::move(reason) : code == 0 ? "Completed" : "Error";
  PublishEvent(ContainerEvent::Kind::kStopped, id, container->config.labels);
}

std::map<std::string, PodState> FakeRuntime::Pods() const {
  std::map<std::string, PodState> pods;
  const auto pod_of = [&pods](const Map<std::string>& labels) -> PodState& {
    const PodName name = PodOf(labels);
    PodState& pod = pods[name.uid];
    pod.uid = name.uid;
    pod.ns = name.ns;
    pod.name = name.name;
    return pod;
  };
  for (const auto& [id, sandbox] : sandboxes_) {
    pod_of(sandbox.config.labels).sandboxes.push_back(sandbox.state);
  }
  for (const auto& [id, container] : containers_) {
    pod_of(container.config.labels).containers.push_back(container.state);
  }
  const auto newer = [](const auto& a, const auto& b) {
    return std::pair(a.attempt, a.created) > std::pair(b.attempt, b.created);
  };
  for (auto& [uid, pod] : pods) {
    std::stable_sort(pod.sandboxes.begin(), pod.sandboxes.end(), newer);
    std::stable_sort(pod.containers.begin(), pod.containers.end(), newer);
  }
  return pods;
}

void FakeRuntime::PublishEvent(ContainerEvent::Kind kind, const std::string& id,
                               const Map<std::string>& labels) {
  changed_.NotifyAll();
  std::erase_if(feeds_, [](const std::weak_ptr<Feed>& feed) { return feed.expired(); });
  if (feeds_.empty()) return;
  ContainerEvent event;
  event.kind = kind;
  event.container_id = id;
  event.pod_uid = PodOf(labels).uid;
  const auto pods = Pods();
  if (const auto at = pods.find(event.pod_uid); at != pods.end()) event.state = at->second;
  for (const std::weak_ptr<Feed>& weak : feeds_) {
    const std::shared_ptr<Feed> feed = weak.lock();
    if (feed == nullptr) continue;
    MutexLock lock(feed->mu);
    feed->events.push_back(event);
    feed->changed.NotifyAll();
  }
}

Result<Version> FakeRuntime::GetVersion(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "GetVersion"));
  return Version{"fake", "1.0.0", "v1"};
}

Result<RuntimeStatus> FakeRuntime::GetStatus(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "GetStatus"));
  return status_;
}

Result<std::optional<cri::v1::CgroupDriver>> FakeRuntime::GetCgroupDriver(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "GetCgroupDriver"));
  return std::optional<cri::v1::CgroupDriver>(cri::v1::kCgroupDriverCgroupfs);
}

Status FakeRuntime::SetPodCidr(const Context& ctx, const std::string& cidr) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "SetPodCidr"));
  Note("SetPodCidr", cidr);
  return {};
}

Result<std::vector<PodState>> FakeRuntime::ListPods(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "ListPods"));
  std::vector<PodState> result;
  for (auto& [uid, pod] : Pods()) result.push_back(pod);
  // Clear the fields that a CRI list omits.
  for (PodState& pod : result) {
    for (SandboxState& sandbox : pod.sandboxes) sandbox.ips.clear();
    for (ContainerState& container : pod.containers) {
      container.started = container.finished = {};
      container.exit_code = 0;
      container.reason.clear();
      container.message.clear();
    }
  }
  return result;
}

Result<PodState> FakeRuntime::GetPod(const Context& ctx, const std::string& uid) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "GetPod"));
  auto pods = Pods();
  const auto at = pods.find(uid);
  if (at == pods.end()) return PodState{.uid = uid, .ns = {}, .name = {}};
  return std::move(at->second);
}

Result<cri::v1::ContainerStatus> FakeRuntime::GetContainer(const Context& ctx,
                                                           const std::string& id) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "GetContainer"));
  COX_ASSIGN_OR_RETURN(const Container* container, Find(id));
  const auto nanos = [](Clock::WallTime time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  cri::v1::ContainerStatus status;
  status.id = id;
  status.metadata = container->config.metadata;
  status.state = static_cast<cri::v1::ContainerState>(container->state.phase);
  status.created_at = nanos(container->state.created);
  status.started_at = nanos(container->state.started);
  status.finished_at = nanos(container->state.finished);
  status.exit_code = container->state.exit_code;
  status.image = container->config.image;
  status.image_ref = container->state.image_id;
  status.reason = container->state.reason;
  status.labels = container->config.labels;
  status.annotations = container->config.annotations;
  status.mounts = container->config.mounts;
  status.log_path = container->config.log_path;
  return status;
}

Result<std::string> FakeRuntime::RunSandbox(const Context& ctx,
                                            const cri::v1::PodSandboxConfig& config,
                                            const std::string& /*runtime_handler*/) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "RunSandbox"));
  if (!config.metadata) return Status::BadRequest("RunSandbox: the config has no metadata");
  std::string id = "sandbox-" + std::to_string(++made_);
  Sandbox& sandbox = sandboxes_[id];
  sandbox.config = config;
  sandbox.state.id = id;
  sandbox.state.attempt = static_cast<uint32_t>(config.metadata->attempt);
  sandbox.state.ready = true;
  sandbox.state.created = clock_.Now();
  const bool host_network =
      config.linux && config.linux->security_context &&
      config.linux->security_context->namespace_options &&
      config.linux->security_context->namespace_options->network == cri::v1::kNamespaceModeNode;
  if (!host_network) {
    sandbox.state.ips = {"10.0." + std::to_string(made_ / 250 % 250) + "." +
                         std::to_string(made_ % 250 + 1)};
  }
  Note("RunSandbox", config.metadata->name);
  PublishEvent(ContainerEvent::Kind::kStarted, id, config.labels);
  return id;
}

Status FakeRuntime::StopSandbox(const Context& ctx, const std::string& id) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "StopSandbox"));
  const auto at = sandboxes_.find(id);
  if (at == sandboxes_.end()) return {};
  Note("StopSandbox", PodOf(at->second.config.labels).name);
  for (auto& [container_id, container] : containers_) {
    if (container.sandbox_id == id) End(container_id, &container, 137, "Error");
  }
  if (std::exchange(at->second.state.ready, false)) {
    PublishEvent(ContainerEvent::Kind::kStopped, id, at->second.config.labels);
  }
  return {};
}

Status FakeRuntime::RemoveSandbox(const Context& ctx, const std::string& id) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "RemoveSandbox"));
  const auto at = sandboxes_.find(id);
  if (at == sandboxes_.end()) return {};
  const Map<std::string> labels = at->second.config.labels;
  Note("RemoveSandbox", PodOf(labels).name);
  std::erase_if(containers_, [&id](const auto& entry) { return entry.second.sandbox_id == id; });
  sandboxes_.erase(at);
  PublishEvent(ContainerEvent::Kind::kDeleted, id, labels);
  return {};
}

Status FakeRuntime::UpdateSandboxResources(const Context& ctx, const std::string& id,
                                           const cri::v1::LinuxContainerResources& /*overhead*/,
                                           const cri::v1::LinuxContainerResources& /*resources*/) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "UpdateSandboxResources"));
  return sandboxes_.contains(id) ? Status() : NotThere("sandbox", id);
}

Status FakeRuntime::CheckTarget(const cri::v1::ContainerConfig& config) {
  if (!config.linux || !config.linux->security_context) return {};
  const auto& namespaces = config.linux->security_context->namespace_options;
  if (!namespaces || namespaces->pid != cri::v1::kNamespaceModeTarget) return {};
  COX_ASSIGN_OR_RETURN(const Container* target, Find(namespaces->target_id));
  if (target->state.phase == Phase::kRunning) return {};
  return Status::Internal("invalid target container: container \"" + namespaces->target_id +
                          "\" is not running");
}

Result<std::string> FakeRuntime::CreateContainer(const Context& ctx, const std::string& sandbox_id,
                                                 const cri::v1::ContainerConfig& config,
                                                 const cri::v1::PodSandboxConfig& /*sandbox*/) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "CreateContainer"));
  if (!sandboxes_.contains(sandbox_id)) return NotThere("sandbox", sandbox_id);
  if (!config.metadata || !config.image) {
    return Status::BadRequest("CreateContainer: the config has no metadata or no image");
  }
  if (!pulled_.contains(ImageName(config.image->image))) {
    return NotThere("image", config.image->image);
  }
  COX_RETURN_IF_ERROR(CheckTarget(config));
  std::string id = "container-" + std::to_string(++made_);
  Container& container = containers_[id];
  container.sandbox_id = sandbox_id;
  container.config = config;
  ContainerState& state = container.state;
  state.id = id;
  state.name = config.metadata->name;
  state.attempt = static_cast<uint32_t>(config.metadata->attempt);
  state.phase = Phase::kCreated;
  state.image = config.image->user_specified_image.empty() ? config.image->image
                                                           : config.image->user_specified_image;
  state.image_id = ImageId(ImageName(config.image->image));
  state.created = clock_.Now();
  state.spec_hash = HashOf(config.annotations);
  Note("CreateContainer", NameOf(container));
  PublishEvent(ContainerEvent::Kind::kCreated, id, config.labels);
  return id;
}

Status FakeRuntime::StartContainer(const Context& ctx, const std::string& id) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "StartContainer"));
  COX_ASSIGN_OR_RETURN(Container * container, Find(id));
  if (container->state.phase != Phase::kCreated) {
    return Status::Internal("container \"" + id + "\" was started before");
  }
  container->state.phase = Phase::kRunning;
  container->state.started = clock_.Now();
  Note("StartContainer", NameOf(*container));
  PublishEvent(ContainerEvent::Kind::kStarted, id, container->config.labels);
  return {};
}

void FakeRuntime::StopContainerAsync(const Context& ctx, const std::string& id,
                                     std::chrono::seconds grace, Stopped done) {
  bool ignored = false;
  const Status stopped = Stop(ctx, id, grace, &ignored);
  if (!ignored) return done(stopped);
  CallAfter(ctx, grace, [this, ctx, id, done = std::move(done)](const Status& status) {
    if (!status.ok()) return done(status);
    bool no = false;
    done(Stop(ctx, id, std::chrono::seconds(0), &no));
  });
}

Status FakeRuntime::Stop(const Context& ctx, const std::string& id, std::chrono::seconds grace,
                         bool* ignored) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "StopContainer"));
  const auto at = containers_.find(id);
  if (at == containers_.end()) return {};
  Note("StopContainer", NameOf(at->second) + " " + std::to_string(grace.count()));
  *ignored = unresponsive_ && grace.count() > 0;
  if (!*ignored) End(id, &at->second, grace.count() > 0 ? 143 : 137, {});
  return {};
}

Status FakeRuntime::RemoveContainer(const Context& ctx, const std::string& id) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "RemoveContainer"));
  const auto at = containers_.find(id);
  if (at == containers_.end()) return {};
  Note("RemoveContainer", NameOf(at->second));
  const Map<std::string> labels = at->second.config.labels;
  containers_.erase(at);
  PublishEvent(ContainerEvent::Kind::kDeleted, id, labels);
  return {};
}

Status FakeRuntime::UpdateResources(const Context& ctx, const std::string& id,
                                    const cri::v1::LinuxContainerResources& resources) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "UpdateResources"));
  COX_ASSIGN_OR_RETURN(Container * container, Find(id));
  container->config.linux.ensure().resources = resources;
  Note("UpdateResources", NameOf(*container));
  return {};
}

Status FakeRuntime::ReopenLog(const Context& ctx, const std::string& id) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "ReopenLog"));
  return Find(id).status();
}

void FakeRuntime::ExecAsync(const Context& ctx, const std::string& id, const Command& command,
                            std::chrono::seconds timeout, Executed done) {
  std::shared_ptr<HeldCommand> held;
  Result<ExecResult> result = Execute(ctx, id, command, &held);
  if (held == nullptr) return done(std::move(result));
  const auto limit = timeout.count() > 0 ? timeout : std::chrono::seconds(std::chrono::hours(24));
  CallAfter(held->ctx, limit, [held, done = std::move(done)](const Status& status) {
    if (held->released) return done(ExecResult());
    done(status.ok() ? Status::Timeout("the command timed out") : status);
  });
}

Result<ExecResult> FakeRuntime::Execute(const Context& ctx, const std::string& id,
                                        const Command& command,
                                        std::shared_ptr<HeldCommand>* held) {
  ExecFunction exec;
  {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(Begin(ctx, "Exec"));
    COX_ASSIGN_OR_RETURN(const Container* container, Find(id));
    if (container->state.phase != Phase::kRunning) {
      return Status::Internal("container \"" + id + "\" does not run");
    }
    if (unresponsive_) {
      *held = held_.emplace_back(std::make_shared<HeldCommand>(ctx));
      return ExecResult();
    }
    exec = exec_;
  }
  return exec != nullptr ? exec(id, command) : ExecResult();
}

Result<std::string> FakeRuntime::ExecUrl(const Context& ctx, const std::string& id,
                                         const Command& /*command*/,
                                         const StreamOptions& /*options*/) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "ExecUrl"));
  COX_RETURN_IF_ERROR(Find(id).status());
  return stream_server_ + "/exec/" + id;
}

Result<std::string> FakeRuntime::AttachUrl(const Context& ctx, const std::string& id,
                                           const StreamOptions& /*options*/) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "AttachUrl"));
  COX_RETURN_IF_ERROR(Find(id).status());
  return stream_server_ + "/attach/" + id;
}

Result<std::string> FakeRuntime::PortForwardUrl(const Context& ctx, const std::string& sandbox_id,
                                                const std::vector<int32_t>& /*ports*/) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "PortForwardUrl"));
  if (!sandboxes_.contains(sandbox_id)) return NotThere("sandbox", sandbox_id);
  return stream_server_ + "/portforward/" + sandbox_id;
}

Result<std::string> FakeRuntime::PullImage(const Context& ctx, const cri::v1::ImageSpec& image,
                                           const cri::v1::AuthConfig* /*auth*/,
                                           const cri::v1::PodSandboxConfig& /*sandbox*/) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "PullImage"));
  COX_RETURN_IF_ERROR(
      ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return !hold_pulls_; }));
  const std::string name = ImageName(image.image);
  if (!published_.contains(name)) return NotThere("image", name);
  pulled_.insert(name);
  Note("PullImage", name);
  return ImageId(name);
}

Result<std::optional<cri::v1::Image>> FakeRuntime::GetImage(const Context& ctx,
                                                            const cri::v1::ImageSpec& image) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "GetImage"));
  const std::string name = ImageName(image.image);
  if (!pulled_.contains(name)) return std::optional<cri::v1::Image>();
  return std::optional<cri::v1::Image>(MakeImage(name, published_[name]));
}

Result<List<cri::v1::Image>> FakeRuntime::ListImages(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "ListImages"));
  List<cri::v1::Image> images;
  for (const std::string& name : pulled_) images.push_back(MakeImage(name, published_[name]));
  return images;
}

Status FakeRuntime::RemoveImage(const Context& ctx, const cri::v1::ImageSpec& image) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "RemoveImage"));
  const std::string name = ImageName(image.image);
  if (pulled_.erase(name) > 0) Note("RemoveImage", name);
  return {};
}

Result<FilesystemInfo> FakeRuntime::GetImageFilesystems(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "GetImageFilesystems"));
  cri::v1::FilesystemUsage usage;
  usage.fs_id.emplace().mountpoint = "/";
  usage.used_bytes.emplace().value = static_cast<int64_t>(pulled_.size());
  return FilesystemInfo{{usage}, {usage}};
}

Result<List<cri::v1::ContainerStats>> FakeRuntime::ListContainerStats(
    const Context& ctx, const std::string& sandbox_id) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "ListContainerStats"));
  List<cri::v1::ContainerStats> result;
  for (const auto& [id, container] : containers_) {
    if (!sandbox_id.empty() && container.sandbox_id != sandbox_id) continue;
    if (container.state.phase != Phase::kRunning) continue;
    cri::v1::ContainerStats stats;
    stats.attributes = cri::v1::ContainerAttributes{.id = id,
                                                    .metadata = container.config.metadata,
                                                    .labels = container.config.labels,
                                                    .annotations = container.config.annotations};
    stats.cpu = cri::v1::CpuUsage{.usage_core_nano_seconds = kCpuNanos};
    stats.memory = cri::v1::MemoryUsage{.working_set_bytes = kWorkingSet};
    result.push_back(std::move(stats));
  }
  return result;
}

Result<List<cri::v1::PodSandboxStats>> FakeRuntime::ListSandboxStats(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "ListSandboxStats"));
  List<cri::v1::PodSandboxStats> result;
  for (const auto& [id, sandbox] : sandboxes_) {
    if (!sandbox.state.ready) continue;
    cri::v1::PodSandboxStats stats;
    stats.attributes = cri::v1::PodSandboxAttributes{.id = id,
                                                     .metadata = sandbox.config.metadata,
                                                     .labels = sandbox.config.labels,
                                                     .annotations = sandbox.config.annotations};
    auto& usage = stats.linux.emplace();
    usage.cpu = cri::v1::CpuUsage{.usage_core_nano_seconds = kCpuNanos};
    usage.memory = cri::v1::MemoryUsage{.working_set_bytes = kWorkingSet};
    result.push_back(std::move(stats));
  }
  return result;
}

Result<std::unique_ptr<EventStream>> FakeRuntime::Events(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(Begin(ctx, "Events"));
  auto feed = std::make_shared<Feed>();
  feeds_.push_back(feed);
  return std::unique_ptr<EventStream>(std::make_unique<Stream>(std::move(feed)));
}

}  // namespace cox::runtime
