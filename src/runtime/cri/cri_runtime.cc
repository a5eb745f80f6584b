// SPDX-License-Identifier: Apache-2.0
#include "runtime/cri/cri_runtime.h"

#include <utility>

#include "runtime/cri/client.h"
#include "runtime/cri/convert.h"
#include "runtime/labels.h"

namespace cox::runtime {
namespace {

#define COX_RUNTIME_METHOD(name) "/runtime.v1.RuntimeService/" name
#define COX_IMAGE_METHOD(name) "/runtime.v1.ImageService/" name

// An object that is already gone counts as stopped or removed.
Status OkIfNotFound(const Status& status) {
  return status.Is(Reason::kNotFound) ? Status() : status;
}

Readiness ToReadiness(const cri::v1::RuntimeStatus& status, std::string_view type) {
  for (const cri::v1::RuntimeCondition& condition : status.conditions) {
    if (condition.type == type) return {condition.status, condition.reason, condition.message};
  }
  return {false, "Unknown", "the runtime did not say"};
}

class CriEvents final : public EventStream {
 public:
  explicit CriEvents(std::unique_ptr<net::grpc::MessageStream> stream)
      : stream_(std::move(stream)) {}

  Result<ContainerEvent> Next(const Context& ctx) override {
    using Outcome = net::grpc::Reply::Outcome;
    while (true) {
      const net::grpc::Reply reply = stream_->Receive(ctx);
      if (reply.outcome == Outcome::kStopped) return ctx.status();
      if (reply.outcome == Outcome::kStatus && reply.code != 0) {
        return CallError("GetContainerEvents", reply.code, reply.text);
      }
      if (reply.outcome != Outcome::kMessage) {
        return Status::Unavailable("the stream of container events ended");
      }
      COX_ASSIGN_OR_RETURN(const auto message,
                           proto::Decode<cri::v1::ContainerEventResponse>(reply.message));
      if (std::optional<ContainerEvent> event = ToEvent(message)) return *std::move(event);
    }
  }

 private:
  const std::unique_ptr<net::grpc::MessageStream> stream_;
};

class CriRuntime final : public Runtime {
 public:
  explicit CriRuntime(std::unique_ptr<CriClient> client) : client_(std::move(client)) {}

  Result<Version> GetVersion(const Context& ctx) override;
  Result<RuntimeStatus> GetStatus(const Context& ctx) override;
  Result<std::optional<cri::v1::CgroupDriver>> GetCgroupDriver(const Context& ctx) override;
  Status SetPodCidr(const Context& ctx, const std::string& cidr) override;

  Result<std::vector<PodState>> ListPods(const Context& ctx) override { return ReadPods(ctx, {}); }
  Result<PodState> GetPod(const Context& ctx, const std::string& uid) override;
  Result<cri::v1::ContainerStatus> GetContainer(const Context& ctx, const std::string& id) override;

  Result<std::string> RunSandbox(const Context& ctx, const cri::v1::PodSandboxConfig& config,
                                 const std::string& runtime_handler) override;
  Status StopSandbox(const Context& ctx, const std::string& id) override {
    return OkIfNotFound(
        Do<cri::v1::StopPodSandboxResponse>(ctx, COX_RUNTIME_METHOD("StopPodSandbox"),
                                            cri::v1::StopPodSandboxRequest{.pod_sandbox_id = id}));
  }
  Status RemoveSandbox(const Context& ctx, const std::string& id) override {
    return OkIfNotFound(Do<cri::v1::RemovePodSandboxResponse>(
        ctx, COX_RUNTIME_METHOD("RemovePodSandbox"),
        cri::v1::RemovePodSandboxRequest{.pod_sandbox_id = id}));
  }
  Status UpdateSandboxResources(const Context& ctx, const std::string& id,
                                const cri::v1::LinuxContainerResources& overhead,
                                const cri::v1::LinuxContainerResources& resources) override {
    return Do<cri::v1::UpdatePodSandboxResourcesResponse>(
        ctx, COX_RUNTIME_METHOD("UpdatePodSandboxResources"),
        cri::v1::UpdatePodSandboxResourcesRequest{
            .pod_sandbox_id = id, .overhead = overhead, .resources = resources});
  }

  Result<std::string> CreateContainer(const Context& ctx, const std::string& sandbox_id,
                                      const cri::v1::ContainerConfig& config,
                                      const cri::v1::PodSandboxConfig& sandbox) override;
  Status StartContainer(const Context& ctx, const std::string& id) override {
    return Do<cri::v1::StartContainerResponse>(ctx, COX_RUNTIME_METHOD("StartContainer"),
                                               cri::v1::StartContainerRequest{.container_id = id});
  }
  void StopContainerAsync(const Context& ctx, const std::string& id, std::chrono::seconds grace,
                          Stopped done) override {
    using Response = cri::v1::StopContainerResponse;
    client_->CallAsync<Response>(
        ctx, COX_RUNTIME_METHOD("StopContainer"),
        cri::v1::StopContainerRequest{.container_id = id, .timeout = grace.count()},
        [done = std::move(done)](const Result<Response>& answer) {
          done(OkIfNotFound(answer.status()));
        });
  }
  Status RemoveContainer(const Context& ctx, const std::string& id) override {
    return OkIfNotFound(
        Do<cri::v1::RemoveContainerResponse>(ctx, COX_RUNTIME_METHOD("RemoveContainer"),
                                             cri::v1::RemoveContainerRequest{.container_id = id}));
  }
  Status UpdateResources(const Context& ctx, const std::string& id,
                         const cri::v1::LinuxContainerResources& resources) override {
    cri::v1::UpdateContainerResourcesRequest request;
    request.container_id = id;
    request.linux = resources;
    return Do<cri::v1::UpdateContainerResourcesResponse>(
        ctx, COX_RUNTIME_METHOD("UpdateContainerResources"), request);
  }
  Status ReopenLog(const Context& ctx, const std::string& id) override {
    return Do<cri::v1::ReopenContainerLogResponse>(
        ctx, COX_RUNTIME_METHOD("ReopenContainerLog"),
        cri::v1::ReopenContainerLogRequest{.container_id = id});
  }

  void ExecAsync(const Context& ctx, const std::string& id, const List<std::string>& command,
                 std::chrono::seconds timeout, Executed done) override;
  Result<std::string> ExecUrl(const Context& ctx, const std::string& id,
                              const List<std::string>& command,
                              const StreamOptions& options) override;
  Result<std::string> AttachUrl(const Context& ctx, const std::string& id,
                                const StreamOptions& options) override;
  Result<std::string> PortForwardUrl(const Context& ctx, const std::string& sandbox_id,
                                     const std::vector<int32_t>& ports) override;

  Result<std::string> PullImage(const Context& ctx, const cri::v1::ImageSpec& image,
                                const cri::v1::AuthConfig* auth,
                                const cri::v1::PodSandboxConfig& sandbox) override;
  Result<std::optional<cri::v1::Image>> GetImage(const Context& ctx,
                                                 const cri::v1::ImageSpec& image) override;
  Result<List<cri::v1::Image>> ListImages(const Context& ctx) override;
  Status RemoveImage(const Context& ctx, const cri::v1::ImageSpec& image) override {
    return OkIfNotFound(Do<cri::v1::RemoveImageResponse>(
        ctx, COX_IMAGE_METHOD("RemoveImage"), cri::v1::RemoveImageRequest{.image = image}));
  }
  Result<FilesystemInfo> GetImageFilesystems(const Context& ctx) override;

  Result<List<cri::v1::ContainerStats>> ListContainerStats(const Context& ctx,
                                                           const std::string& sandbox_id) override;
  Result<List<cri::v1::PodSandboxStats>> ListSandboxStats(const Context& ctx) override;

  Result<std::unique_ptr<EventStream>> Events(const Context& ctx) override;

 private:
  // A call with an empty response.
  template <class Response, class Request>
  Status Do(const Context& ctx, std::string_view method, const Request& request) {
    return client_->Call<Response>(ctx, method, request).status();
  }
  // Reads one Pod, or all if `uid` is empty.
  Result<std::vector<PodState>> ReadPods(const Context& ctx, const std::string& uid);
  Status Complete(const Context& ctx, PodState* pod);

  const std::unique_ptr<CriClient> client_;
};

Result<Version> CriRuntime::GetVersion(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::VersionResponse>(
                                          ctx, COX_RUNTIME_METHOD("Version"),
                                          cri::v1::VersionRequest{.version = "v1"}));
  return Version{response.runtime_name, response.runtime_version, response.runtime_api_version};
}

Result<RuntimeStatus> CriRuntime::GetStatus(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(auto response,
                       client_->Call<cri::v1::StatusResponse>(ctx, COX_RUNTIME_METHOD("Status"),
                                                              cri::v1::StatusRequest{}));
  const cri::v1::RuntimeStatus& status = response.status.ensure();
  return RuntimeStatus{.runtime = ToReadiness(status, "RuntimeReady"),
                       .network = ToReadiness(status, "NetworkReady"),
                       .handlers = std::move(response.runtime_handlers)};
}

Result<std::optional<cri::v1::CgroupDriver>> CriRuntime::GetCgroupDriver(const Context& ctx) {
  using Driver = std::optional<cri::v1::CgroupDriver>;
  const auto response = client_->Call<cri::v1::RuntimeConfigResponse>(
      ctx, COX_RUNTIME_METHOD("RuntimeConfig"), cri::v1::RuntimeConfigRequest{});
  if (response.status().Is(Reason::kMethodNotAllowed)) return Driver();
  if (!response.ok()) return response.status();
  return response->linux ? Driver(response->linux->cgroup_driver) : Driver();
}

Status CriRuntime::SetPodCidr(const Context& ctx, const std::string& cidr) {
  cri::v1::UpdateRuntimeConfigRequest request;
  request.runtime_config.emplace().network_config.emplace().pod_cidr = cidr;
  return Do<cri::v1::UpdateRuntimeConfigResponse>(ctx, COX_RUNTIME_METHOD("UpdateRuntimeConfig"),
                                                  request);
}

Result<std::vector<PodState>> CriRuntime::ReadPods(const Context& ctx, const std::string& uid) {
  cri::v1::ListPodSandboxRequest sandboxes;
  cri::v1::ListContainersRequest containers;
  if (!uid.empty()) {
    sandboxes.filter.emplace().label_selector[label::kPodUid] = uid;
    containers.filter.emplace().label_selector[label::kPodUid] = uid;
  }
  // Containers first, so that a container created in between does not lack its sandbox.
  COX_ASSIGN_OR_RETURN(const auto found_containers,
                       client_->Call<cri::v1::ListContainersResponse>(
                           ctx, COX_RUNTIME_METHOD("ListContainers"), containers));
  COX_ASSIGN_OR_RETURN(const auto found_sandboxes,
                       client_->Call<cri::v1::ListPodSandboxResponse>(
                           ctx, COX_RUNTIME_METHOD("ListPodSandbox"), sandboxes));
  return GroupByPod(found_sandboxes.items, found_containers.containers);
}

// Requests the data that lists omit. Objects removed meanwhile are dropped.
Status CriRuntime::Complete(const Context& ctx, PodState* pod) {
  std::vector<SandboxState> sandboxes;
  for (const SandboxState& known : pod->sandboxes) {
    const auto status = client_->Call<cri::v1::PodSandboxStatusResponse>(
        ctx, COX_RUNTIME_METHOD("PodSandboxStatus"),
        cri::v1::PodSandboxStatusRequest{.pod_sandbox_id = known.id});
    if (status.status().Is(Reason::kNotFound)) continue;
    if (!status.ok()) return status.status();
    if (status->status) sandboxes.push_back(ToState(*status->status));
  }
  std::vector<ContainerState> containers;
  for (const ContainerState& known : pod->containers) {
    const auto status = GetContainer(ctx, known.id);
    if (status.status().Is(Reason::kNotFound)) continue;
    if (!status.ok()) return status.status();
    containers.push_back(ToState(*status));
  }
  pod->sandboxes = std::move(sandboxes);
  pod->containers = std::move(containers);
  Sort(pod);
  return {};
}

Result<PodState> CriRuntime::GetPod(const Context& ctx, const std::string& uid) {
  COX_ASSIGN_OR_RETURN(auto pods, ReadPods(ctx, uid));
  if (pods.empty()) return PodState{.uid = uid, .ns = {}, .name = {}};
  COX_RETURN_IF_ERROR(Complete(ctx, &pods.front()));
  return std::move(pods.front());
}

Result<cri::v1::ContainerStatus> CriRuntime::GetContainer(const Context& ctx,
                                                          const std::string& id) {
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::ContainerStatusResponse>(
                                          ctx, COX_RUNTIME_METHOD("ContainerStatus"),
                                          cri::v1::ContainerStatusRequest{.container_id = id}));
  if (!response.status) return Status::Internal("ContainerStatus: the answer is empty");
  return std::move(*response.status);
}

Result<std::string> CriRuntime::RunSandbox(const Context& ctx,
                                           const cri::v1::PodSandboxConfig& config,
                                           const std::string& runtime_handler) {
  COX_ASSIGN_OR_RETURN(
      auto response,
      client_->Call<cri::v1::RunPodSandboxResponse>(
          ctx, COX_RUNTIME_METHOD("RunPodSandbox"),
          cri::v1::RunPodSandboxRequest{.config = config, .runtime_handler = runtime_handler}));
  return response.pod_sandbox_id;
}

Result<std::string> CriRuntime::CreateContainer(const Context& ctx, const std::string& sandbox_id,
                                                const cri::v1::ContainerConfig& config,
                                                const cri::v1::PodSandboxConfig& sandbox) {
  COX_ASSIGN_OR_RETURN(
      auto response,
      client_->Call<cri::v1::CreateContainerResponse>(
          ctx, COX_RUNTIME_METHOD("CreateContainer"),
          cri::v1::CreateContainerRequest{
              .pod_sandbox_id = sandbox_id, .config = config, .sandbox_config = sandbox}));
  return response.container_id;
}

void CriRuntime::ExecAsync(const Context& ctx, const std::string& id,
                           const List<std::string>& command, std::chrono::seconds timeout,
                           Executed done) {
  using Response = cri::v1::ExecSyncResponse;
  client_->CallAsync<Response>(
      ctx, COX_RUNTIME_METHOD("ExecSync"),
      cri::v1::ExecSyncRequest{.container_id = id, .cmd = command, .timeout = timeout.count()},
      [done = std::move(done)](Result<Response> answer) {
        if (!answer.ok()) return done(answer.status());
        done(ExecResult{answer->exit_code, std::move(answer->stdout), std::move(answer->stderr)});
      });
}

Result<std::string> CriRuntime::ExecUrl(const Context& ctx, const std::string& id,
                                        const List<std::string>& command,
                                        const StreamOptions& options) {
  cri::v1::ExecRequest request;
  request.container_id = id;
  request.cmd = command;
  request.tty = options.tty;
  request.stdin = options.in;
  request.stdout = options.out;
  request.stderr = options.err && !options.tty;
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::ExecResponse>(
                                          ctx, COX_RUNTIME_METHOD("Exec"), request));
  return response.url;
}

Result<std::string> CriRuntime::AttachUrl(const Context& ctx, const std::string& id,
                                          const StreamOptions& options) {
  cri::v1::AttachRequest request;
  request.container_id = id;
  request.tty = options.tty;
  request.stdin = options.in;
  request.stdout = options.out;
  request.stderr = options.err && !options.tty;
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::AttachResponse>(
                                          ctx, COX_RUNTIME_METHOD("Attach"), request));
  return response.url;
}

Result<std::string> CriRuntime::PortForwardUrl(const Context& ctx, const std::string& sandbox_id,
                                               const std::vector<int32_t>& ports) {
  COX_ASSIGN_OR_RETURN(
      auto response, client_->Call<cri::v1::PortForwardResponse>(
                         ctx, COX_RUNTIME_METHOD("PortForward"),
                         cri::v1::PortForwardRequest{.pod_sandbox_id = sandbox_id, .port = ports}));
  return response.url;
}

Result<std::string> CriRuntime::PullImage(const Context& ctx, const cri::v1::ImageSpec& image,
                                          const cri::v1::AuthConfig* auth,
                                          const cri::v1::PodSandboxConfig& sandbox) {
  cri::v1::PullImageRequest request;
  request.image = image;
  if (auth != nullptr) request.auth = *auth;
  request.sandbox_config = sandbox;
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::PullImageResponse>(
                                          ctx, COX_IMAGE_METHOD("PullImage"), request));
  return response.image_ref;
}

Result<std::optional<cri::v1::Image>> CriRuntime::GetImage(const Context& ctx,
                                                           const cri::v1::ImageSpec& image) {
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::ImageStatusResponse>(
                                          ctx, COX_IMAGE_METHOD("ImageStatus"),
                                          cri::v1::ImageStatusRequest{.image = image}));
  if (!response.image) return std::optional<cri::v1::Image>();
  return std::optional<cri::v1::Image>(std::move(*response.image));
}

Result<List<cri::v1::Image>> CriRuntime::ListImages(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(
      auto response, client_->Call<cri::v1::ListImagesResponse>(ctx, COX_IMAGE_METHOD("ListImages"),
                                                                cri::v1::ListImagesRequest{}));
  return std::move(response.images);
}

Result<FilesystemInfo> CriRuntime::GetImageFilesystems(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(auto response,
                       client_->Call<cri::v1::ImageFsInfoResponse>(
                           ctx, COX_IMAGE_METHOD("ImageFsInfo"), cri::v1::ImageFsInfoRequest{}));
  return FilesystemInfo{std::move(response.image_filesystems),
                        std::move(response.container_filesystems)};
}

Result<List<cri::v1::ContainerStats>> CriRuntime::ListContainerStats(
    const Context& ctx, const std::string& sandbox_id) {
  cri::v1::ListContainerStatsRequest request;
  if (!sandbox_id.empty()) request.filter.emplace().pod_sandbox_id = sandbox_id;
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::ListContainerStatsResponse>(
                                          ctx, COX_RUNTIME_METHOD("ListContainerStats"), request));
  return std::move(response.stats);
}

Result<List<cri::v1::PodSandboxStats>> CriRuntime::ListSandboxStats(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(auto response, client_->Call<cri::v1::ListPodSandboxStatsResponse>(
                                          ctx, COX_RUNTIME_METHOD("ListPodSandboxStats"),
                                          cri::v1::ListPodSandboxStatsRequest{}));
  return std::move(response.stats);
}

Result<std::unique_ptr<EventStream>> CriRuntime::Events(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(auto stream, client_->Start(ctx, COX_RUNTIME_METHOD("GetContainerEvents"),
                                                   cri::v1::GetEventsRequest{}));
  return std::unique_ptr<EventStream>(std::make_unique<CriEvents>(std::move(stream)));
}

}  // namespace

Result<std::unique_ptr<Runtime>> ConnectCri(const Context& ctx, std::string_view endpoint) {
  COX_ASSIGN_OR_RETURN(auto client, CriClient::Create(ctx, endpoint));
  return std::unique_ptr<Runtime>(std::make_unique<CriRuntime>(std::move(client)));
}

}  // namespace cox::runtime
