// SPDX-License-Identifier: Apache-2.0
#include "kubelet/probes/probe.h"

#include <algorithm>

#include "base/strings.h"
#include "kubelet/pod/containers.h"
#include "net/tcp.h"

namespace cox::kubelet {

namespace {

ProbeReply ExecProbe(Context& ctx, const ProbeTarget& target, const ProbeExec& exec) {
  const Result<ProbeExecResult> result =
      exec(ctx, target.container_id, target.handler.exec->command, target.timeout);
  if (!result.ok()) {
    if (result.status().Is(Reason::kTimeout)) {
      return ProbeReply::Failure("command timed out: " + Join(target.handler.exec->command, " ") +
                                 " timed out after " + FormatDuration(target.timeout));
    }
    return ProbeReply::Error(result.status().message());
  }
  std::string output = result->output.substr(0, kMaxProbeOutput);
  if (result->exit_code == 0) return ProbeReply::Success(std::move(output));
  return ProbeReply::Failure(std::move(output));
}

}  // namespace

ProbeReply TcpProbe(Context& ctx, const ProbeTarget& target) {
  const core::v1::TCPSocketAction& action = *target.handler.tcpSocket;
  const uint16_t port = ResolvePort(action.port, target.container);
  if (port == 0) return ProbeReply::Error("invalid port " + action.port.ToString());
  const std::string& host = action.host.empty() ? target.pod_ip : action.host;
  const Result<std::unique_ptr<net::TcpSocket>> socket = net::TcpSocket::Connect(ctx, host, port);
  if (socket.ok()) return ProbeReply::Success();
  // As upstream, every connection error is a failure.
  return ProbeReply::Failure("dial tcp " + host + ":" + std::to_string(port) + ": " +
                             socket.status().message());
}

ProbeReply RunProbe(Context& ctx, const ProbeTarget& target, const ProbeExec& exec) {
  Context limited = ctx.WithTimeout(std::max(target.timeout, std::chrono::seconds(1)));
  if (target.handler.exec) return ExecProbe(limited, target, exec);
  if (target.handler.httpGet) return HttpProbe(limited, target);
  if (target.handler.tcpSocket) return TcpProbe(limited, target);
  if (target.handler.grpc) return GrpcProbe(limited, target);
  return ProbeReply::Error(
      "missing probe handler for the container: give it exec, httpGet, "
      "tcpSocket or grpc");
}

}  // namespace cox::kubelet
