// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
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

// One of the two things a runtime must have before Pods can run: itself, and a network.
struct Readiness {
  bool ready = false;
  std::string reason;   // "NetworkPluginNotReady"
  std::string message;  // for people
};

struct RuntimeStatus {
  Readiness runtime;
  Readiness network;
  // Runtime handlers by name ("" is the default), as RuntimeClasses name them.
  List<cri::v1::RuntimeHandler> handlers;
};

struct ExecResult {
  int32_t exit_code = 0;
  std::string out;
  std::string err;
};

// One of: exec (a command), attach. `tty` joins err with out.
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

// Something happened to a container or a sandbox (then container_id is the sandbox's).
struct ContainerEvent {
  enum class Kind : uint8_t { kCreated, kStarted, kStopped, kDeleted };
  Kind kind = Kind::kCreated;
  std::string container_id;
  std::string pod_uid;  // whose it is; what it is now, PodState(uid) says
  // The Pod's state when the event was made, where the runtime sends it along.
  std::optional<PodState> state;
};

// The events of a runtime from the moment it was made on. Dropping it ends it.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // The next event. Unavailable when the stream broke: events were lost, so list and begin again.
  virtual Result<ContainerEvent> Next(const Context& ctx) = 0;
};

// What runs containers on this node, as the kubelet sees it: cri/ is containerd, fake/ is memory.
//
// Sandboxes and containers carry the labels of labels.h, which their configs must have: by them a
// restarted kubelet finds what runs. Ids are the runtime's own, without its name in front.
// Guarantees: stopping and removing what is not there (any more) is OK. What a call has changed is
//   seen by calls that begin after it.
// Threads: all methods may be called concurrently; they block no longer than `ctx` lasts. A call
//   whose context stopped may or may not have been executed.
// Errors: NotFound for ids that are not there; Unavailable when the runtime cannot be reached or is
//   overloaded: try again; Timeout when it gave up; BadRequest, AlreadyExists, Internal as it says.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual Result<Version> GetVersion(const Context& ctx) = 0;
  virtual Result<RuntimeStatus> GetStatus(const Context& ctx) = 0;
  // Which cgroup driver the runtime wants; none: it does not say.
  virtual Result<std::optional<cri::v1::CgroupDriver>> GetCgroupDriver(const Context& ctx) = 0;
  // For network plugins that the runtime configures itself.
  virtual Status SetPodCidr(const Context& ctx, const std::string& cidr) = 0;

  // Everything, in two calls however many Pods there are. It lacks what only single calls tell:
  // SandboxState::ips and of containers started, finished, exit_code, reason, message.
  virtual Result<std::vector<PodState>> ListPods(const Context& ctx) = 0;
  // All of one Pod, complete. Without sandboxes and containers if the runtime has none of it.
  virtual Result<PodState> GetPod(const Context& ctx, const std::string& uid) = 0;
  // What the runtime knows of a container: mounts, resources, user. NotFound.
  virtual Result<cri::v1::ContainerStatus> GetContainer(const Context& ctx,
                                                        const std::string& id) = 0;

  // Makes and starts a sandbox: infra container and network. Returns its id.
  virtual Result<std::string> RunSandbox(const Context& ctx,
                                         const cri::v1::PodSandboxConfig& config,
                                         const std::string& runtime_handler) = 0;
  // Ends what runs in it and takes its network away.
  virtual Status StopSandbox(const Context& ctx, const std::string& id) = 0;
  // With all of its containers.
  virtual Status RemoveSandbox(const Context& ctx, const std::string& id) = 0;
  virtual Status UpdateSandboxResources(const Context& ctx, const std::string& id,
                                        const cri::v1::LinuxContainerResources& overhead,
                                        const cri::v1::LinuxContainerResources& resources) = 0;

  // Returns the container's id. `sandbox` is the config that its sandbox was made with. The image
  // must be here: config.image.image is what PullImage or GetImage returned.
  virtual Result<std::string> CreateContainer(const Context& ctx, const std::string& sandbox_id,
                                              const cri::v1::ContainerConfig& config,
                                              const cri::v1::PodSandboxConfig& sandbox) = 0;
  virtual Status StartContainer(const Context& ctx, const std::string& id) = 0;
  // Asks it to end and kills it after `grace`; 0: at once. Returns when it has ended.
  virtual Status StopContainer(const Context& ctx, const std::string& id,
                               std::chrono::seconds grace) = 0;
  // Kills it if it runs.
  virtual Status RemoveContainer(const Context& ctx, const std::string& id) = 0;
  virtual Status UpdateResources(const Context& ctx, const std::string& id,
                                 const cri::v1::LinuxContainerResources& resources) = 0;
  // The log was moved away: go on in a new file.
  virtual Status ReopenLog(const Context& ctx, const std::string& id) = 0;

  // Runs a command to its end. Timeout if that takes longer than `timeout`; 0: no limit but ctx.
  // A command that cannot be started is an error; one that fails is not.
  virtual Result<ExecResult> Exec(const Context& ctx, const std::string& id,
                                  const List<std::string>& command,
                                  std::chrono::seconds timeout) = 0;
  // Where to connect for a stream, once and soon: "http://127.0.0.1:41234/exec/Xyz".
  virtual Result<std::string> ExecUrl(const Context& ctx, const std::string& id,
                                      const List<std::string>& command,
                                      const StreamOptions& options) = 0;
  virtual Result<std::string> AttachUrl(const Context& ctx, const std::string& id,
                                        const StreamOptions& options) = 0;
  virtual Result<std::string> PortForwardUrl(const Context& ctx, const std::string& sandbox_id,
                                             const std::vector<int32_t>& ports) = 0;

  // Fetches an image, which may take minutes; stopping `ctx` gives up. Returns what to name it by
  // in CreateContainer. `auth` may be null. Errors have the registry's words.
  virtual Result<std::string> PullImage(const Context& ctx, const cri::v1::ImageSpec& image,
                                        const cri::v1::AuthConfig* auth,
                                        const cri::v1::PodSandboxConfig& sandbox) = 0;
  // None if it is not here.
  virtual Result<std::optional<cri::v1::Image>> GetImage(const Context& ctx,
                                                         const cri::v1::ImageSpec& image) = 0;
  virtual Result<List<cri::v1::Image>> ListImages(const Context& ctx) = 0;
  virtual Status RemoveImage(const Context& ctx, const cri::v1::ImageSpec& image) = 0;
  virtual Result<FilesystemInfo> GetImageFilesystems(const Context& ctx) = 0;

  // What containers use now; of one Pod's sandbox, or of all where `sandbox_id` is empty.
  virtual Result<List<cri::v1::ContainerStats>> ListContainerStats(
      const Context& ctx, const std::string& sandbox_id) = 0;
  virtual Result<List<cri::v1::PodSandboxStats>> ListSandboxStats(const Context& ctx) = 0;

  // Asks for events. List after it, and again every now and then: what happens while the runtime
  // begins to collect may be missed. `ctx` bounds the opening only.
  virtual Result<std::unique_ptr<EventStream>> Events(const Context& ctx) = 0;
};

}  // namespace cox::runtime
