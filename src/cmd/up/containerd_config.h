// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "cmd/up/options.h"

// Generates the configuration of containerd and the CNI plugins.
namespace cox::cmd {

// Properties of the machine that affect the container runtime.
struct RuntimeInfo {
  int containerd = 201;                // 100 * major + minor of its version
  std::string cni_plugins;             // "/usr/lib/cni"
  bool systemd = false;                // systemd is the init process and manages cgroups
  bool may_raise_oom_priority = true;  // CAP_SYS_RESOURCE
  bool overlay_below = false;          // the data folder is on overlayfs, which cannot be stacked
};
// Returns whether systemd is the init process.
bool SystemdRuns();
// Returns NotFound with installation instructions if there are no CNI plugins.
Result<RuntimeInfo> DetectRuntime(const Context& ctx, const UpOptions& options);
// "containerd github.com/containerd/containerd/v2 2.1.9 ..." is 201; 0 if there is no version.
int ContainerdVersion(std::string_view output);

std::string ContainerdConfig(const UpPaths& paths, const RuntimeInfo& facts,
                             std::string_view pause_image);
// Files that start with this line may be removed.
inline constexpr std::string_view kWrittenByUp = "# Written by coxswain up at every start.\n";
// certs.d/<registry>/hosts.toml
std::string HostsToml(std::string_view registry, std::string_view url);
// Bridge plugin with host-local addresses, and portmap for host ports.
std::string CniConflist(const UpPaths& paths, std::string_view pod_cidr);

}  // namespace cox::cmd
