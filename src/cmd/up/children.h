// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/context.h"
#include "base/result.h"
#include "cmd/supervise/supervisor.h"
#include "cmd/up/options.h"
#include "cmd/up/pause/pause_image.h"
#include "net/server.h"

// The child processes of a cluster: etcd and containerd.
namespace cox::cmd {

// Returns NotFound with installation instructions if a required program is not installed.
Status CheckPrograms(const UpOptions& options);

// Starts etcd with one member, which listens on the loopback interface and requires client
// certificates of its CA. REQUIRES: the certificates exist.
Result<std::unique_ptr<Supervisor>> StartEtcd(const Context& ctx, const UpOptions& options);
// Returns OK if the etcd of the options is healthy.
Status EtcdResponds(Context& ctx, const UpOptions& options);

// A containerd with its own root, socket and configuration, and the registry that serves the pause
// image.
class NodeRuntime {
 public:
  // Writes the configuration and starts containerd. Returns NotFound like DetectRuntime.
  static Result<std::unique_ptr<NodeRuntime>> Start(const Context& ctx, const UpOptions& options);
  NodeRuntime(const Context& ctx, UpPaths paths)  // use Start()
      : ctx_(ctx), paths_(std::move(paths)) {}
  // Waits until containerd responds and has the pause image.
  Status WaitReady(Context& ctx);
  bool adopted() const { return containerd_->adopted(); }
  // Containers keep running.
  Status End(const Context& ctx) { return containerd_->End(ctx, std::chrono::seconds(5)); }

 private:
  const Context ctx_;
  const UpPaths paths_;
  std::shared_ptr<const PauseImage> image_;
  std::unique_ptr<net::Server> registry_;
  std::unique_ptr<Supervisor> containerd_;
};

// Arguments that identify the processes of this cluster.
std::string EtcdMark(const UpPaths& paths);
std::string ContainerdMark(const UpPaths& paths);
inline constexpr std::string_view kShim = "containerd-shim-runc-v2";
SupervisedProgram ContainerdProgram(const Context& ctx, const UpPaths& paths);

// Ends shims that containerd does not manage any more: it was killed after it had started them and
// before it stored that, and deleted their folders after its restart.
void EndLostShims(const Context& ctx, const UpPaths& paths);

}  // namespace cox::cmd
