// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/containerd_config.h"

#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <charconv>
#include <fstream>

#include "base/program.h"
#include "base/strings.h"
#include "cmd/supervise/process.h"

namespace cox::cmd {
namespace {

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

bool HasCapability(int capability) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> capability & 1) != 0;
  }
  return false;
}

}  // namespace

bool SystemdRuns() { return ::access("/run/systemd/system", F_OK) == 0; }

int ContainerdVersion(std::string_view output) {
  for (const std::string_view word : Split(TrimSpace(output), ' ')) {
    const std::string_view number = word.starts_with('v') ? word.substr(1) : word;
    const CutResult cut = Cut(number, '.');
    int major = 0, minor = 0;
    const auto whole = [](std::string_view text, int* value) {
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *value);
      return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    };
    if (cut.found && whole(cut.before, &major) && whole(Cut(cut.after, '.').before, &minor)) {
      return 100 * major + minor;
    }
  }
  return 0;
}

Result<RuntimeInfo> DetectRuntime(const Context& ctx, const UpOptions& options) {
  RuntimeInfo facts;
  COX_ASSIGN_OR_RETURN(
      const ProgramResult version,
      RunProgram(ctx, {.arguments = {FindProgram("containerd"), "--version"}, .environment = {}}));
  facts.containerd = ContainerdVersion(version.output);
  if (facts.containerd < 107) {
    return Status::BadRequest("containerd 1.7 or newer is needed; this is " +
                              std::string(TrimSpace(version.output)));
  }
  for (const char* dir : {"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"}) {
    if (facts.cni_plugins.empty() && ::access((std::string(dir) + "/bridge").c_str(), X_OK) == 0) {
      facts.cni_plugins = dir;
    }
  }
  if (facts.cni_plugins.empty()) {
    return Status::NotFound(
        "the CNI plugins are not installed (looked in /opt/cni/bin, /usr/lib/cni).\n"
        "On Debian: apt install containernetworking-plugins");
  }
  facts.systemd = SystemdRuns();
  facts.may_raise_oom_priority = HasCapability(CAP_SYS_RESOURCE);
  struct statfs below {};
  facts.overlay_below = ::statfs(options.paths.data.c_str(), &below) == 0 &&
                        static_cast<unsigned long>(below.f_type) == OVERLAYFS_SUPER_MAGIC;
  return facts;
}

std::string ContainerdConfig(const UpPaths& paths, const RuntimeInfo& facts,
                             std::string_view pause_image) {
  const std::string socket = paths.containerd_socket();
  // Before 2.0, one CRI plugin had the settings that two plugins have now.
  const bool old = facts.containerd < 200;
  const std::string runtime =
      old ? "[plugins.\"io.containerd.grpc.v1.cri\"" : "[plugins.\"io.containerd.cri.v1.runtime\"";
  const std::string images =
      old ? "[plugins.\"io.containerd.grpc.v1.cri\"" : "[plugins.\"io.containerd.cri.v1.images\"";
  const std::string snapshotter =
      "  snapshotter = " + Quoted(facts.overlay_below ? "native" : "overlayfs") + "\n";
  const std::string plugins = Quoted(facts.cni_plugins);

  std::string text(kWrittenByUp);
  text += old ? "version = 2\n" : "version = 3\n";
  text += "root = " + Quoted((paths.containerd() / "root").string()) + "\n";
  text += "state = " + Quoted((paths.data / "run/containerd").string()) + "\n";
  // Disables unused plugins, which cost memory and start time.
  text += R"(disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri",
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.erofs", "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.internal.v1.tracing"]
)";
  if (facts.may_raise_oom_priority) text += "oom_score = -999\n";
  text += "[debug]\n  level = \"warn\"\n";
  text += "[grpc]\n  address = " + Quoted(socket) + "\n";
  text += "[ttrpc]\n  address = " + Quoted(socket + ".ttrpc") + "\n";

  text += runtime + "]\n";
  // Without it, sandboxes cannot start if this process may not lower its OOM score.
  if (!facts.may_raise_oom_priority) text += "  restrict_oom_score_adj = true\n";
  if (old) text += "  sandbox_image = " + Quoted(pause_image) + "\n";
  if (!old) text += images + "]\n" + snapshotter;
  if (!old) text += images + ".pinned_images]\n  sandbox = " + Quoted(pause_image) + "\n";
  text += images + ".registry]\n  config_path = " + Quoted(paths.registries().string()) + "\n";
  text += runtime + ".cni]\n";
  text +=
      facts.containerd < 201 ? "  bin_dir = " + plugins + "\n" : "  bin_dirs = [" + plugins + "]\n";
  text += "  conf_dir = " + Quoted(paths.cni_config().parent_path().string()) + "\n";
  if (old) text += runtime + ".containerd]\n" + snapshotter;
  text += runtime + ".containerd.runtimes.runc]\n  runtime_type = \"io.containerd.runc.v2\"\n";
  text += runtime + ".containerd.runtimes.runc.options]\n";
  return text + "  SystemdCgroup = " + (facts.systemd ? "true" : "false") + "\n";
}

std::string HostsToml(std::string_view registry, std::string_view url) {
  // The mirror is tried first, then the registry itself.
  const std::string server =
      registry == "docker.io" ? "https://registry-1.docker.io" : "https://" + std::string(registry);
  return std::string(kWrittenByUp) + "server = " + Quoted(server) + "\n[host." + Quoted(url) +
         "]\n  capabilities = [\"pull\", \"resolve\"]\n";
}

std::string CniConflist(const UpPaths& paths, std::string_view pod_cidr) {
  // nftables for both, like the proxy, so that iptables is not required.
  return R"({
  "cniVersion": "1.0.0",
  "name": "coxswain",
  "plugins": [
    {
      "type": "bridge",
      "bridge": ")" +
         paths.bridge() + R"(",
      "isGateway": true,
      "ipMasq": true,
      "ipMasqBackend": "nftables",
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "dataDir": ")" +
         (paths.cni() / "addresses").string() + R"(",
        "ranges": [[{"subnet": ")" +
         std::string(pod_cidr) + R"("}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "backend": "nftables", "capabilities": {"portMappings": true}}
  ]
}
)";
}

}  // namespace cox::cmd
