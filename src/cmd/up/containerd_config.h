// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "cmd/up/options.h"

// The texts that containerd and the CNI plugins are configured by.
namespace cox::cmd {

// What of the machine decides how containers can be run.
struct RuntimeFacts {
  int containerd = 201;                // 100 * major + minor of its version
  std::string cni_plugins;             // "/usr/lib/cni"
  bool systemd = false;                // systemd is the first process: it makes cgroups
  bool may_raise_oom_priority = true;  // CAP_SYS_RESOURCE
  bool overlay_below = false;          // the data folder is on an overlay: no second one on top
};
// Whether systemd is the first process here.
bool SystemdRuns();
// NotFound if there are no CNI plugins, saying how to get them.
Result<RuntimeFacts> LookAround(const Context& ctx, const UpOptions& options);
// "containerd github.com/containerd/containerd/v2 2.1.9 ..." is 201; 0 if it says nothing known.
int ContainerdVersion(std::string_view output);

std::string ContainerdConfig(const UpPaths& paths, const RuntimeFacts& facts,
                             std::string_view pause_image);
// Texts that begin with this are ours to remove.
inline constexpr std::string_view kWrittenByUp = "# Written by coxswain up at every start.\n";
// certs.d/<registry>/hosts.toml
std::string HostsToml(std::string_view registry, std::string_view url);
// Bridge, addresses by host-local, ports of the host by portmap.
std::string CniConflist(const UpPaths& paths, std::string_view pod_cidr);

}  // namespace cox::cmd
