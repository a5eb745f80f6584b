// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"

// Executes one probe of a container: exec, HTTP, TCP or gRPC.
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

// Runs a command in a container to completion. Timeout if it did not end in time.
struct ProbeExecResult {
  int32_t exit_code = 0;
  std::string output;  // of both streams
};
using ProbeExec = std::function<Result<ProbeExecResult>(
    Context& ctx, const std::string& container_id, const List<std::string>& command,
    std::chrono::seconds timeout)>;

// Blocks at most for the target's timeout.
ProbeReply RunProbe(Context& ctx, const ProbeTarget& target, const ProbeExec& exec);

ProbeReply HttpProbe(Context& ctx, const ProbeTarget& target);
ProbeReply TcpProbe(Context& ctx, const ProbeTarget& target);
ProbeReply GrpcProbe(Context& ctx, const ProbeTarget& target);

// The User-Agent of HTTP and gRPC probes.
inline constexpr std::string_view kProbeUserAgent = "kube-probe/1.36";
// The limit for HTTP response bodies and command output.
inline constexpr size_t kMaxProbeOutput = 10 * 1024;

}  // namespace cox::kubelet
