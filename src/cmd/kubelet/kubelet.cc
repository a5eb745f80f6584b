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
    R"(coxswain kubelet: the agent of a node. It registers the node, runs the Pods that are given to it by
containerd (or another runtime that speaks CRI), and serves their logs, exec and port-forward.

Usage:
  coxswain kubelet [flags]

Examples:
  coxswain kubelet --kubeconfig kubelet.conf --client-ca-file ca.crt
  coxswain kubelet --kubeconfig kubelet.conf --config kubelet.yaml --node-labels disk=ssd
  coxswain kubelet --kubeconfig kubelet.conf --register-with-taints dedicated=db:NoSchedule

The kubeconfig is the node's: user system:node:NAME of group system:nodes. It needs root.
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
    return kubelet::AddKubelet(component.manager, std::move(parsed));
  });
}

}  // namespace cox::cmd
