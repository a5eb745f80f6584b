// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "coxswain/conditions.h"
#include "kubelet/server/handlers.h"
#include "object/codec.h"

namespace cox::kubelet {

using core::v1::PodList;

net::Response TextResponse(int status, std::string text) {
  return {.status = status,
          .headers = {{"content-type", "text/plain; charset=utf-8"},
                      {"x-content-type-options", "nosniff"}},
          .body = {Bytes(std::move(text))}};
}

net::Response JsonResponse(std::string json) {
  return {.status = 200,
          .headers = {{"content-type", "application/json"}},
          .body = {Bytes(std::move(json))}};
}

net::Response ErrorResponse(const Status& status) {
  return TextResponse(status.code(), status.message());
}

namespace {

net::Response ListResponse(PodList list) {
  std::string json;
  EncodeObject(Object::Of(std::move(list)), Format::kJson, &json);
  return JsonResponse(std::move(json));
}

}  // namespace

net::Response PodsResponse(const HandlerParts& parts) {
  PodList list;
  list.items = parts.pods.Pods();
  return ListResponse(std::move(list));
}

net::Response RunningPodsResponse(Context& ctx, const HandlerParts& parts) {
  const auto pods = parts.runtime.ListPods(ctx);
  if (!pods.ok()) return ErrorResponse(pods.status());
  PodList list;
  for (const runtime::PodState& pod : *pods) {
    core::v1::Pod to;
    to.metadata.name = pod.name;
    to.metadata.namespace_ = pod.ns;
    to.metadata.uid = pod.uid;
    for (const runtime::ContainerState& container : pod.containers) {
      if (container.phase != runtime::ContainerState::Phase::kRunning) continue;
      core::v1::Container& one = to.spec.containers.emplace_back();
      one.name = container.name;
      one.image = container.image;
    }
    if (!to.spec.containers.empty()) list.items.push_back(std::move(to));
  }
  return ListResponse(std::move(list));
}

net::Response RunResponse(Context& ctx, const HandlerParts& parts, const NodeCall& call) {
  const Route& route = call.route;
  const auto container = parts.pods.FindContainer(ctx, route.pod, route.uid, route.container);
  if (!container.ok()) return ErrorResponse(container.status());
  const std::string text_of_command = call.query.Get("cmd").value_or("");
  std::vector<std::string> command;
  for (const std::string_view word : Split(text_of_command, ' ')) {
    if (!word.empty()) command.emplace_back(word);
  }
  if (command.empty()) return TextResponse(400, "cmd: a command is needed, as in ?cmd=ls+/");
  const auto result = parts.runtime.Exec(ctx, container->id, command, std::chrono::seconds(0));
  if (!result.ok()) return ErrorResponse(result.status());
  std::string text = result->out + result->err;
  if (result->exit_code != 0) {
    text += "command '" + Join(command, " ") + "' exited with " +
            std::to_string(result->exit_code) + ": " + result->err;
    return TextResponse(500, std::move(text));
  }
  return TextResponse(200, std::move(text));
}

Result<Usage> GatherUsage(Context& ctx, const HandlerParts& parts) {
  Usage usage;
  usage.node_name = parts.node_name;
  usage.now = TimeNow(ctx.clock());
  COX_ASSIGN_OR_RETURN(usage.machine, ReadMachine(parts.machine_root));
  COX_ASSIGN_OR_RETURN(usage.node, ReadNodeUsage(parts.machine_root, parts.root_dir));
  COX_ASSIGN_OR_RETURN(usage.sandboxes, parts.runtime.ListSandboxStats(ctx));
  COX_ASSIGN_OR_RETURN(usage.containers, parts.runtime.ListContainerStats(ctx, ""));
  COX_ASSIGN_OR_RETURN(usage.pods, parts.runtime.ListPods(ctx));
  usage.images = usage.node.fs;
  const auto images = parts.runtime.GetImageFilesystems(ctx);
  if (images.ok() && !images->images.empty() && images->images[0].fs_id) {
    if (auto fs = ReadFilesystem(images->images[0].fs_id->mountpoint); fs.ok()) usage.images = *fs;
  }
  return usage;
}

}  // namespace cox::kubelet
