// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod/sysctls.h"

#include <algorithm>

#include "base/strings.h"
#include "object/validation/sysctl.h"

namespace cox::kubelet {

using validation::DottedSysctl;
using validation::NamespaceOfSysctl;
using validation::SysctlNamespace;

namespace {

constexpr std::string_view kSafe[] = {
    "kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",          "net.ipv4.tcp_wmem",
};

// A pattern that ends with "*" matches all names with that prefix.
bool Matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

}  // namespace

Status CheckUnsafeSysctls(std::span<const std::string> patterns) {
  for (const std::string& pattern : patterns) {
    const std::string name = DottedSysctl(pattern);
    std::string_view text = name;
    if (text.ends_with('*')) {
      text.remove_suffix(1);
      // A prefix may end inside of a word: "net.ipv4.tcp_*".
      if (text.ends_with('.') || text.ends_with('_') || text.ends_with('-')) text.remove_suffix(1);
    }
    if (!validation::IsSysctlName(text)) {
      return Status::BadRequest(Quote(pattern) + " is not the name of a sysctl");
    }
    if (NamespaceOfSysctl(name) == SysctlNamespace::kNone) {
      return Status::BadRequest("the sysctls " + Quote(pattern) + " are not separate for each Pod");
    }
  }
  return {};
}

std::optional<std::string> ForbiddenSysctl(const core::v1::Pod& pod,
                                           std::span<const std::string> unsafe) {
  if (!pod.spec.securityContext) return std::nullopt;
  for (const core::v1::Sysctl& sysctl : pod.spec.securityContext->sysctls) {
    const std::string name = DottedSysctl(sysctl.name);
    const auto forbidden = [&](std::string_view why) {
      return "forbidden sysctl: " + Quote(sysctl.name) + " " + std::string(why);
    };
    const SysctlNamespace space = NamespaceOfSysctl(name);
    const bool safe = std::find(std::begin(kSafe), std::end(kSafe), name) != std::end(kSafe);
    const bool allowed =
        safe || std::any_of(unsafe.begin(), unsafe.end(), [&](const std::string& pattern) {
          return Matches(name, DottedSysctl(pattern));
        });
    if (!allowed) return forbidden("not allowlisted");
    if (space == SysctlNamespace::kIpc && pod.spec.hostIPC) {
      return forbidden("not allowed with host ipc enabled");
    }
    if (space == SysctlNamespace::kNet && pod.spec.hostNetwork) {
      return forbidden("not allowed with host net enabled");
    }
  }
  return std::nullopt;
}

}  // namespace cox::kubelet
