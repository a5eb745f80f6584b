// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/hooks.h"

#include <chrono>

#include "base/strings.h"
#include "kubelet/probes/probe.h"

namespace cox::kubelet {

using core::v1::LifecycleHandler;

namespace {

Status RunCommand(Context& ctx, const LifecycleHandler& hook, const HookTarget& target,
                  runtime::Runtime& runtime) {
  const Result<runtime::ExecResult> result =
      runtime.Exec(ctx, target.container_id, hook.exec->command, std::chrono::seconds(0));
  if (!result.ok()) return result.status();
  if (result->exit_code == 0) return {};
  return Status::Internal("command '" + Join(hook.exec->command, " ") + "' exited with " +
                          std::to_string(result->exit_code) + ": " + result->err + result->out);
}

Status SendRequest(Context& ctx, const LifecycleHandler& hook, const HookTarget& target) {
  ProbeTarget probe{.container_id = target.container_id,
                    .pod_ip = target.pod_ip,
                    .container = target.container,
                    .handler = {}};
  probe.handler.httpGet = hook.httpGet;
  const ProbeReply reply = HttpProbe(ctx, probe);
  if (reply.kind == ProbeReply::Kind::kSuccess) return {};
  if (reply.message.starts_with("HTTP probe failed with statuscode")) return {};
  return Status::Internal(reply.message);
}

}  // namespace

Status RunHook(Context& ctx, const LifecycleHandler& hook, const HookTarget& target,
               runtime::Runtime& runtime) {
  if (hook.exec) return RunCommand(ctx, hook, target, runtime);
  if (hook.httpGet) return SendRequest(ctx, hook, target);
  if (hook.sleep) return ctx.Sleep(std::chrono::seconds(hook.sleep->seconds));
  return Status::BadRequest("invalid handler: the hook has neither exec, httpGet nor sleep");
}

}  // namespace cox::kubelet
