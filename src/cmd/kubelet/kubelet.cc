// SPDX-License-Identifier: Apache-2.0
#include "kubelet/kubelet.h"

#include <cstdio>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cmd/commands.h"
#include "cmd/component/component.h"
#include "cmd/component/configured_arguments.h"
#include "cmd/kubelet/config_file.h"
#include "cmd/kubelet/options.h"

namespace cox::cmd {
namespace {

constexpr std::string_view kIntro =
    R"(coxswain kubelet: the node agent (kubelet). It registers the Node, runs the Pods that are assigned to it with
containerd or another CRI runtime, and serves their logs, exec and port-forward.

Usage:
  coxswain kubelet [flags]

Examples:
  coxswain kubelet --kubeconfig kubelet.conf --client-ca-file ca.crt
  coxswain kubelet --kubeconfig kubelet.conf --config kubelet.yaml --node-labels disk=ssd
  coxswain kubelet --kubeconfig kubelet.conf --register-with-taints dedicated=db:NoSchedule

The user of the kubeconfig must be system:node:NAME in the group system:nodes. Must run as root.
)";

}  // namespace

int RunKubelet(std::span<char* const> arguments) {
  std::vector<std::string> without_effect;
  const auto configured = ConfiguredArguments::From(
      arguments, [&](std::string_view text) -> Result<ConfiguredArguments::NamedFlags> {
        COX_ASSIGN_OR_RETURN(KubeletConfigFile file, ReadKubeletConfig(text));
        without_effect = std::move(file.without_effect);
        return std::move(file.flags);
      });
  if (!configured.ok()) {
    std::fputs(("Error: " + configured.status().message() + "\n").c_str(), stderr);
    return 2;
  }
  if (!without_effect.empty()) {
    std::fputs(("Warning: " + configured->path() +
                ": without effect here: " + Join(without_effect, ", ") + "\n")
                   .c_str(),
               stderr);
  }
  ComponentOptions options;
  options.name = "kubelet";
  options.intro = kIntro;
  options.flags = KubeletFlags();
  return RunComponent(configured->all(), options, [](const Component& component) -> Status {
    COX_ASSIGN_OR_RETURN(kubelet::KubeletOptions parsed, KubeletOptionsFrom(component.flags));
    COX_RETURN_IF_ERROR(ApplyOomScoreFlag(component));
    return kubelet::AddKubelet(component.manager, std::move(parsed));
  });
}

}  // namespace cox::cmd
