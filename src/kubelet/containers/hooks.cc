// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/hooks.h"

#include <chrono>
#include <utility>

#include "base/async.h"
#include "base/strings.h"

namespace cox::kubelet {

using core::v1::LifecycleHandler;

namespace {

using Done = std::function<void(const Status&)>;

void RunCommand(const Context& ctx, const LifecycleHandler& hook, const HookTarget& target,
                runtime::Runtime& runtime, Done done) {
  const List<std::string>& command = hook.exec->command;
  runtime.ExecAsync(ctx, target.container_id, command, std::chrono::seconds(0),
                    [text = Join(command, " "),
                     done = std::move(done)](const Result<runtime::ExecResult>& result) {
                      if (!result.ok()) return done(result.status());
                      if (result->exit_code == 0) return done({});
                      done(Status::Internal("command '" + text + "' exited with " +
                                            std::to_string(result->exit_code) + ": " + result->err +
                                            result->out));
                    });
}

void SendRequest(const Context& ctx, const LifecycleHandler& hook, const HookTarget& target,
                 Prober& prober, Done done) {
  ProbeTarget probe{.container_id = target.container_id,
                    .pod_ip = target.pod_ip,
                    .container = target.container,
                    .handler = {}};
  probe.handler.httpGet = hook.httpGet;
  prober.HttpGet(ctx, probe, [done = std::move(done)](const ProbeReply& reply) {
    const bool answered = reply.kind == ProbeReply::Kind::kSuccess ||
                          reply.message.starts_with("HTTP probe failed with statuscode");
    done(answered ? Status() : Status::Internal(reply.message));
  });
}

}  // namespace

void RunHook(const Context& ctx, const LifecycleHandler& hook, const HookTarget& target,
             const HookParts& parts, Done done) {
  if (hook.exec) return RunCommand(ctx, hook, target, parts.runtime, std::move(done));
  if (hook.httpGet) return SendRequest(ctx, hook, target, parts.prober, std::move(done));
  if (hook.sleep) {
    return CallAfter(ctx, std::chrono::seconds(hook.sleep->seconds), std::move(done));
  }
  done(Status::BadRequest("invalid handler: the hook has neither exec, httpGet nor sleep"));
}

}  // namespace cox::kubelet
