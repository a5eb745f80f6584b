// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/context.h"
#include "base/result.h"
#include "cmd/supervise/supervisor.h"
#include "cmd/up/options.h"
#include "cmd/up/pause/pause_image.h"
#include "net/server.h"

// The programs beside ours that a cluster stands on.
namespace cox::cmd {

// NotFound, with how to get it, for a program that the options need and that is not installed.
Status CheckPrograms(const UpOptions& options);

// etcd with one member, for this API server alone: on the loopback, and only with a certificate of
// its CA. The certificates must be there.
Result<std::unique_ptr<Supervisor>> StartEtcd(const Context& ctx, const UpOptions& options);
// OK if the etcd that the options name answers.
Status EtcdAnswers(Context& ctx, const UpOptions& options);

// containerd with a root, a socket and a configuration of its own, and where it gets the image of
// infra containers from.
class NodeRuntime {
 public:
  // Writes the configuration and starts it. NotFound as LookAround.
  static Result<std::unique_ptr<NodeRuntime>> Start(const Context& ctx, const UpOptions& options);
  NodeRuntime(const Context& ctx, UpPaths paths)  // use Start()
      : ctx_(ctx), paths_(std::move(paths)) {}
  // When it answers, with the image of infra containers in it.
  Status WaitReady(Context& ctx);
  bool adopted() const { return containerd_->adopted(); }
  // Containers run on.
  Status End(const Context& ctx) { return containerd_->End(ctx, std::chrono::seconds(5)); }

 private:
  const Context ctx_;
  const UpPaths paths_;
  std::shared_ptr<const PauseImage> image_;
  std::unique_ptr<net::Server> registry_;
  std::unique_ptr<Supervisor> containerd_;
};

// How they are told apart from others on this machine.
std::string EtcdMark(const UpPaths& paths);
std::string ContainerdMark(const UpPaths& paths);
inline constexpr std::string_view kShim = "containerd-shim-runc-v2";
SupervisedProgram ContainerdProgram(const Context& ctx, const UpPaths& paths);

// Ends shims that nobody else ever would: containerd was killed between their start and its note of
// it, and has removed their folders when it served again.
void EndLostShims(const Context& ctx, const UpPaths& paths);

}  // namespace cox::cmd
