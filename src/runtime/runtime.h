// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/cri/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "runtime/pod_state.h"

namespace cox::runtime {

struct Version {
  std::string name;         // "containerd"
  std::string version;      // "2.1.4"
  std::string api_version;  // "v1"
};

// One of the two conditions for running Pods: RuntimeReady and NetworkReady.
struct Readiness {
  bool ready = false;
  std::string reason;   // "NetworkPluginNotReady"
  std::string message;  // human-readable
};

struct RuntimeStatus {
  Readiness runtime;
  Readiness network;
  // Runtime handlers by name ("" is the default), as referenced by RuntimeClasses.
  List<cri::v1::RuntimeHandler> handlers;
};

struct ExecResult {
  int32_t exit_code = 0;
  std::string out;
  std::string err;
};

// The streams of exec or attach. `tty` merges err into out.
struct StreamOptions {
  bool in = false;
  bool out = true;
  bool err = true;
  bool tty = false;
};

struct FilesystemInfo {
  List<cri::v1::FilesystemUsage> images;
  List<cri::v1::FilesystemUsage> containers;
};

// An event of a container or a sandbox (then container_id is the sandbox's).
struct ContainerEvent {
  enum class Kind : uint8_t { kCreated, kStarted, kStopped, kDeleted };
  Kind kind = Kind::kCreated;
  std::string container_id;
  std::string pod_uid;  // of its Pod; GetPod(uid) returns the current state
  // The Pod's state at the time of the event, if the runtime sends it.
  std::optional<PodState> state;
};

// The events of a runtime since the creation of the stream. Destruction closes it.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // The next event. Unavailable when the stream broke: events were lost, so list and open a new
  // stream.
  virtual Result<ContainerEvent> Next(const Context& ctx) = 0;
};

// The container runtime of this node: cri/ implements it with containerd, testing/ in memory.
//
// Sandboxes and containers have the labels of labels.h, which their configs must contain: with them
// a restarted kubelet finds its containers. IDs are the runtime's, without the "containerd://"
// prefix.
// Guarantees: stopping and removing objects that do not exist is OK. Changes are visible to calls
//   that begin after the changing call has returned. Functions with the suffix Async call `done`
//   exactly once, on any thread; it must not block.
// Threads: all methods may be called concurrently; they block no longer than `ctx` allows. A call
//   whose context stopped may or may not have been executed.
// Errors: NotFound for unknown IDs; Unavailable when the runtime cannot be reached or is
//   overloaded: retry; Timeout when the runtime timed out; BadRequest, AlreadyExists, Internal as
//   reported by the runtime.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual Result<Version> GetVersion(const Context& ctx) = 0;
  virtual Result<RuntimeStatus> GetStatus(const Context& ctx) = 0;
  // The cgroup driver of the runtime; nullopt if it does not report one.
  virtual Result<std::optional<cri::v1::CgroupDriver>> GetCgroupDriver(const Context& ctx) = 0;
  // For network plugins that the runtime configures.
  virtual Status SetPodCidr(const Context& ctx, const std::string& cidr) = 0;

  // All Pods, in two calls regardless of their number. Omits data that requires a call per object:
  // SandboxState::ips, and started, finished, exit_code, reason and message of containers.
  virtual Result<std::vector<PodState>> ListPods(const Context& ctx) = 0;
  // The complete state of one Pod. No sandboxes and containers if the runtime does not have it.
  virtual Result<PodState> GetPod(const Context& ctx, const std::string& uid) = 0;
  // The runtime's status of a container: mounts, resources, user. NotFound if it does not exist.
  virtual Result<cri::v1::ContainerStatus> GetContainer(const Context& ctx,
                                                        const std::string& id) = 0;

  // Creates and starts a sandbox: infra container and network. Returns its ID.
  virtual Result<std::string> RunSandbox(const Context& ctx,
                                         const cri::v1::PodSandboxConfig& config,
                                         const std::string& runtime_handler) = 0;
  // Stops its containers and removes its network.
  virtual Status StopSandbox(const Context& ctx, const std::string& id) = 0;
  // Also removes all of its containers.
  virtual Status RemoveSandbox(const Context& ctx, const std::string& id) = 0;
  virtual Status UpdateSandboxResources(const Context& ctx, const std::string& id,
                                        const cri::v1::LinuxContainerResources& overhead,
                                        const cri::v1::LinuxContainerResources& resources) = 0;

  // Returns the container's ID. `sandbox` is the config of its sandbox. The image must be present:
  // config.image.image is the result of PullImage or GetImage. An error if the config shares the
  // PID namespace of a container that does not run.
  virtual Result<std::string> CreateContainer(const Context& ctx, const std::string& sandbox_id,
                                              const cri::v1::ContainerConfig& config,
                                              const cri::v1::PodSandboxConfig& sandbox) = 0;
  virtual Status StartContainer(const Context& ctx, const std::string& id) = 0;
  // Sends the stop signal, and SIGKILL after `grace`; 0: kills at once. Calls `done` when it has
  // exited. Blocks at most while the connection to the runtime is opened.
  using Stopped = std::function<void(Status)>;
  virtual void StopContainerAsync(const Context& ctx, const std::string& id,
                                  std::chrono::seconds grace, Stopped done) = 0;
  // Like the asynchronous function, but blocks until the end.
  Status StopContainer(const Context& ctx, const std::string& id, std::chrono::seconds grace);
  // Kills it if it is running.
  virtual Status RemoveContainer(const Context& ctx, const std::string& id) = 0;
  virtual Status UpdateResources(const Context& ctx, const std::string& id,
                                 const cri::v1::LinuxContainerResources& resources) = 0;
  // Reopens the log file after a rotation.
  virtual Status ReopenLog(const Context& ctx, const std::string& id) = 0;

  // Runs a command and calls `done` when it has ended. Timeout if it takes longer than `timeout`;
  // 0: no limit except ctx. A command that cannot be started is an error; a nonzero exit code is
  // not.
  using Executed = std::function<void(Result<ExecResult>)>;
  virtual void ExecAsync(const Context& ctx, const std::string& id,
                         const List<std::string>& command, std::chrono::seconds timeout,
                         Executed done) = 0;
  // Like the asynchronous function, but blocks until the end.
  Result<ExecResult> Exec(const Context& ctx, const std::string& id,
                          const List<std::string>& command, std::chrono::seconds timeout);
  // The URL of a stream, valid once and for a short time: "http://127.0.0.1:41234/exec/Xyz".
  virtual Result<std::string> ExecUrl(const Context& ctx, const std::string& id,
                                      const List<std::string>& command,
                                      const StreamOptions& options) = 0;
  virtual Result<std::string> AttachUrl(const Context& ctx, const std::string& id,
                                        const StreamOptions& options) = 0;
  virtual Result<std::string> PortForwardUrl(const Context& ctx, const std::string& sandbox_id,
                                             const std::vector<int32_t>& ports) = 0;

  // Pulls an image, which may take minutes; stopping `ctx` cancels the pull. Returns the image
  // reference for CreateContainer. `auth` may be null. Errors contain the registry's message.
  virtual Result<std::string> PullImage(const Context& ctx, const cri::v1::ImageSpec& image,
                                        const cri::v1::AuthConfig* auth,
                                        const cri::v1::PodSandboxConfig& sandbox) = 0;
  // nullopt if it is not present.
  virtual Result<std::optional<cri::v1::Image>> GetImage(const Context& ctx,
                                                         const cri::v1::ImageSpec& image) = 0;
  virtual Result<List<cri::v1::Image>> ListImages(const Context& ctx) = 0;
  virtual Status RemoveImage(const Context& ctx, const cri::v1::ImageSpec& image) = 0;
  virtual Result<FilesystemInfo> GetImageFilesystems(const Context& ctx) = 0;

  // Current usage of containers; of one sandbox, or of all if `sandbox_id` is empty.
  virtual Result<List<cri::v1::ContainerStats>> ListContainerStats(
      const Context& ctx, const std::string& sandbox_id) = 0;
  virtual Result<List<cri::v1::PodSandboxStats>> ListSandboxStats(const Context& ctx) = 0;

  // Subscribes to events. List after this call, and periodically: events may be missed while the
  // runtime sets up the subscription. `ctx` limits only the opening.
  virtual Result<std::unique_ptr<EventStream>> Events(const Context& ctx) = 0;
};

}  // namespace cox::runtime
