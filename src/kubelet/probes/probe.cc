// SPDX-License-Identifier: Apache-2.0
#include "kubelet/probes/probe.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "kubelet/pod/containers.h"
#include "net/fetch.h"

namespace cox::kubelet {

namespace {

// Each starts one command at a time, and waits only while the runtime is not reachable.
constexpr size_t kExecThreads = 4;

ProbeReply ReplyOf(const ProbeTarget& target, const Result<ProbeExecResult>& result) {
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

// A command that is to be executed. Its end replies if nothing else has, for example because the
// task was dropped.
class Command {
 public:
  Command(const ProbeTarget& target, Prober::Done done, PendingWork::Token pending)
      : target_(target), done_(std::move(done)), pending_(std::move(pending)) {}
  ~Command() {
    if (done_) done_(ProbeReply::Error("the command was not started"));
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  const ProbeTarget& target() const { return target_; }
  void Reply(const Result<ProbeExecResult>& result) {
    std::exchange(done_, nullptr)(ReplyOf(target_, result));
  }

 private:
  const ProbeTarget target_;
  Prober::Done done_;
  const PendingWork::Token pending_;
};

}  // namespace

Prober::Prober(const Context& ctx, ProbeExec exec)
    : exec_(std::move(exec)),
      loop_(net::StartEventLoop(ctx, "probes")),
      pool_(ctx, {.name = "probe-exec", .max_threads = kExecThreads}) {}

Prober::~Prober() {
  pool_.Stop();
  pending_.Wait();
  if (loop_.ok()) net::StopEventLoop(**loop_);
}

void Prober::Run(const Context& ctx, const ProbeTarget& target, Done done) {
  const Context limited = ctx.WithTimeout(std::max(target.timeout, std::chrono::seconds(1)));
  if (target.handler.exec) return Exec(limited, target, std::move(done));
  if (target.handler.httpGet) return HttpGet(limited, target, std::move(done));
  if (target.handler.tcpSocket) return Connect(limited, target, std::move(done));
  if (target.handler.grpc) return CheckGrpc(limited, target, std::move(done));
  done(ProbeReply::Error(
      "missing probe handler for the container: give it exec, httpGet, tcpSocket or grpc"));
}

void Prober::Exec(const Context& ctx, const ProbeTarget& target, Done done) {
  if (!exec_) return done(ProbeReply::Error("commands are not supported"));
  const auto command = std::make_shared<Command>(target, std::move(done), pending_.Begin());
  // If the task is not accepted, it is destroyed, and the command with it.
  static_cast<void>(pool_.Submit([this, ctx, command] {
    const ProbeTarget& of = command->target();
    exec_(ctx, of.container_id, of.handler.exec->command, of.timeout,
          [command](const Result<ProbeExecResult>& result) { command->Reply(result); });
  }));
}

void Prober::Connect(const Context& ctx, const ProbeTarget& target, Done done) {
  const core::v1::TCPSocketAction& action = *target.handler.tcpSocket;
  const uint16_t port = ResolvePort(action.port, target.container);
  if (port == 0) return done(ProbeReply::Error("invalid port " + action.port.ToString()));
  if (!loop_.ok()) return done(ProbeReply::Error(loop_.status().message()));
  const std::string& host = action.host.empty() ? target.pod_ip : action.host;
  const std::string dial = "dial tcp " + host + ":" + std::to_string(port);
  net::TryConnect(
      ctx, *loop_, host, port,
      [dial, done = std::move(done), pending = pending_.Begin()](const Status& status) {
        if (status.ok()) return done(ProbeReply::Success());
        // As upstream, every connection error is a failure.
        const bool dialed = status.message().starts_with("dial tcp");
        done(ProbeReply::Failure(dialed ? status.message() : dial + ": " + status.message()));
      });
}

}  // namespace cox::kubelet
