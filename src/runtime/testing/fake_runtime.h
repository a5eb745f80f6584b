// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "runtime/runtime.h"

namespace cox::runtime {

// An in-memory runtime for tests of the kubelet: it implements the contract of Runtime, and is
// controlled by the test.
//
// Threads: all methods may be called concurrently.
class FakeRuntime final : public Runtime {
 public:
  using Command = List<std::string>;
  using ExecFunction = std::function<Result<ExecResult>(const std::string& id, const Command&)>;

  explicit FakeRuntime(Clock& clock) : clock_(clock) {}

  // Test controls.
  // `name` can be pulled from now on, and runs as `user` by default.
  void Publish(const std::string& name, int64_t user = 0);
  // Makes a running container exit. `reason` empty: "Completed" or "Error", depending on the code.
  void Exit(const std::string& id, int32_t code, std::string reason = {});
  // The next call of `method` ("RunSandbox", "PullImage", ...) fails without any effect.
  void FailNext(const std::string& method, Status why);
  void SetStatus(RuntimeStatus status);
  // The implementation of Exec; by default each command succeeds without output.
  void SetExec(ExecFunction exec);
  // While on, commands do not end, and containers ignore the stop signal.
  void SetUnresponsive(bool on);
  // The base URL of ExecUrl, AttachUrl and PortForwardUrl, "http://127.0.0.1:41234"; by default
  // invalid.
  void SetStreamServer(std::string url);
  // While on, PullImage blocks.
  void HoldPulls(bool on);
  // All modifying calls, in order: "RunSandbox web-0", "StartContainer web-0/main", ...
  std::vector<std::string> calls() const;
  // The config of a container. REQUIRES: it exists.
  cri::v1::ContainerConfig ConfigOf(const std::string& id) const;
  // Simulates a restart of the runtime: event streams break, containers keep running.
  void BreakEvents();

  Result<Version> GetVersion(const Context& ctx) override;
  Result<RuntimeStatus> GetStatus(const Context& ctx) override;
  Result<std::optional<cri::v1::CgroupDriver>> GetCgroupDriver(const Context& ctx) override;
  Status SetPodCidr(const Context& ctx, const std::string& cidr) override;
  Result<std::vector<PodState>> ListPods(const Context& ctx) override;
  Result<PodState> GetPod(const Context& ctx, const std::string& uid) override;
  Result<cri::v1::ContainerStatus> GetContainer(const Context& ctx, const std::string& id) override;
  Result<std::string> RunSandbox(const Context& ctx, const cri::v1::PodSandboxConfig& config,
                                 const std::string& runtime_handler) override;
  Status StopSandbox(const Context& ctx, const std::string& id) override;
  Status RemoveSandbox(const Context& ctx, const std::string& id) override;
  Status UpdateSandboxResources(const Context& ctx, const std::string& id,
                                const cri::v1::LinuxContainerResources& overhead,
                                const cri::v1::LinuxContainerResources& resources) override;
  Result<std::string> CreateContainer(const Context& ctx, const std::string& sandbox_id,
                                      const cri::v1::ContainerConfig& config,
                                      const cri::v1::PodSandboxConfig& sandbox) override;
  Status StartContainer(const Context& ctx, const std::string& id) override;
  void StopContainerAsync(const Context& ctx, const std::string& id, std::chrono::seconds grace,
                          Stopped done) override;
  Status RemoveContainer(const Context& ctx, const std::string& id) override;
  Status UpdateResources(const Context& ctx, const std::string& id,
                         const cri::v1::LinuxContainerResources& resources) override;
  Status ReopenLog(const Context& ctx, const std::string& id) override;
  void ExecAsync(const Context& ctx, const std::string& id, const Command& command,
                 std::chrono::seconds timeout, Executed done) override;
  Result<std::string> ExecUrl(const Context& ctx, const std::string& id, const Command& command,
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
  Status RemoveImage(const Context& ctx, const cri::v1::ImageSpec& image) override;
  Result<FilesystemInfo> GetImageFilesystems(const Context& ctx) override;
  Result<List<cri::v1::ContainerStats>> ListContainerStats(const Context& ctx,
                                                           const std::string& sandbox_id) override;
  Result<List<cri::v1::PodSandboxStats>> ListSandboxStats(const Context& ctx) override;
  Result<std::unique_ptr<EventStream>> Events(const Context& ctx) override;

 private:
  struct Sandbox {
    cri::v1::PodSandboxConfig config;
    SandboxState state;
  };
  struct Container {
    std::string sandbox_id;
    cri::v1::ContainerConfig config;
    ContainerState state;
  };
  struct Feed;  // the events of one stream
  struct HeldCommand;
  class Stream;

  // Starts a call: returns the injected failure, if any.
  Status Begin(const Context& ctx, const std::string& method) COX_REQUIRES(mu_);
  void Note(const std::string& method, const std::string& what) COX_REQUIRES(mu_);
  Result<Container*> Find(const std::string& id) COX_REQUIRES(mu_);
  // Fails if the container whose PID namespace would be shared is not running.
  Status CheckTarget(const cri::v1::ContainerConfig& config) COX_REQUIRES(mu_);
  std::string NameOf(const Container& container) const COX_REQUIRES(mu_);
  Status Stop(const Context& ctx, const std::string& id, std::chrono::seconds grace, bool* ignored);
  // Sets *held if the command does not end at once.
  Result<ExecResult> Execute(const Context& ctx, const std::string& id, const Command& command,
                             std::shared_ptr<HeldCommand>* held);
  void End(const std::string& id, Container* container, int32_t code, std::string reason)
      COX_REQUIRES(mu_);
  std::map<std::string, PodState> Pods() const COX_REQUIRES(mu_);
  void PublishEvent(ContainerEvent::Kind kind, const std::string& id,
                    const Map<std::string>& labels) COX_REQUIRES(mu_);

  Clock& clock_;
  mutable Mutex mu_;
  CondVar changed_;
  int made_ COX_GUARDED_BY(mu_) = 0;  // number of allocated IDs
  std::map<std::string, Sandbox> sandboxes_ COX_GUARDED_BY(mu_);
  std::map<std::string, Container> containers_ COX_GUARDED_BY(mu_);
  std::map<std::string, int64_t> published_ COX_GUARDED_BY(mu_);
  std::set<std::string> pulled_ COX_GUARDED_BY(mu_);
  std::map<std::string, std::deque<Status>> failures_ COX_GUARDED_BY(mu_);
  RuntimeStatus status_ COX_GUARDED_BY(mu_) = {{true, "", ""}, {true, "", ""}, {}};
  ExecFunction exec_ COX_GUARDED_BY(mu_);
  bool hold_pulls_ COX_GUARDED_BY(mu_) = false;
  bool unresponsive_ COX_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<HeldCommand>> held_ COX_GUARDED_BY(mu_);
  std::string stream_server_ COX_GUARDED_BY(mu_) = "http://fake.invalid";
  std::vector<std::string> calls_ COX_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<Feed>> feeds_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::runtime
