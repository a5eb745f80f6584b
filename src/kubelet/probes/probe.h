// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "api/core/v1.h"
#include "base/async.h"
#include "base/context.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "net/client.h"

// Executes single probes of containers: exec, HTTP, TCP or gRPC.
namespace cox::kubelet {

struct ProbeTarget {
  std::string container_id;
  std::string pod_ip;             // used if the probe has no host
  core::v1::Container container;  // for named ports
  core::v1::ProbeHandler handler;
  std::chrono::seconds timeout{1};
};

struct ProbeReply {
  // kError: the probe could not be executed; it has no result for the container.
  enum class Kind : uint8_t { kSuccess, kFailure, kError };
  Kind kind = Kind::kSuccess;
  std::string message;  // of the event: `HTTP probe failed with statuscode: 500`

  static ProbeReply Success(std::string message = "") {
    return {Kind::kSuccess, std::move(message)};
  }
  static ProbeReply Failure(std::string message) { return {Kind::kFailure, std::move(message)}; }
  static ProbeReply Error(std::string message) { return {Kind::kError, std::move(message)}; }
};

// Runs a command in a container and calls `done` once, on any thread. Timeout if it did not end in
// time.
struct ProbeExecResult {
  int32_t exit_code = 0;
  std::string output;  // of both streams
};
using ProbeExec = std::function<void(const Context& ctx, const std::string& container_id,
                                     const List<std::string>& command, std::chrono::seconds timeout,
                                     std::function<void(Result<ProbeExecResult>)> done)>;

// Executes probes. No thread waits for a container: all network probes share an event loop, and the
// threads of a small pool only start commands.
//
// Threads: all methods may be called concurrently. `done` is called exactly once, on any thread,
// and
//   must not block. When `ctx` stops, the probe ends.
// Lifetime: destruction waits for the probes in progress, so their contexts must have stopped.
class Prober {
 public:
  using Done = std::function<void(ProbeReply reply)>;

  // `exec` may be empty if there are no commands. It may block while the runtime is not reachable.
  Prober(const Context& ctx, ProbeExec exec);
  ~Prober();

  // Ends after the target's timeout at the latest.
  void Run(const Context& ctx, const ProbeTarget& target, Done done);
  // The HTTP request of a probe or hook, without a timeout of its own.
  void HttpGet(const Context& ctx, const ProbeTarget& target, Done done);

 private:
  void Exec(const Context& ctx, const ProbeTarget& target, Done done);
  void Connect(const Context& ctx, const ProbeTarget& target, Done done);
  void CheckGrpc(const Context& ctx, const ProbeTarget& target, Done done);

  const ProbeExec exec_;
  Result<std::shared_ptr<net::EventLoop>> loop_;
  PendingWork pending_;
  WorkerPool pool_;
};

// The User-Agent of HTTP and gRPC probes.
inline constexpr std::string_view kProbeUserAgent = "kube-probe/1.36";
// The limit for HTTP response bodies and command output.
inline constexpr size_t kMaxProbeOutput = 10 * 1024;

}  // namespace cox::kubelet
