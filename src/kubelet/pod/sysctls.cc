// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod/sysctls.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::kubelet {
namespace {

constexpr std::string_view kSafe[] = {
    "kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",          "net.ipv4.tcp_wmem",
};

// The namespace of the kernel that separates a sysctl between Pods.
enum class Separation { kNone, kIpc, kNet };

// A pattern that ends with "*" matches all names with that prefix.
bool Matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

Separation SeparationOf(std::string_view name) {
  for (const char* ipc : {"kernel.sem", "kernel.shm*", "kernel.msg*", "fs.mqueue.*"}) {
    // A pattern must be inside the group: "kernel.s*" is not.
    const bool prefix = name.ends_with('*') && !std::string_view(ipc).ends_with('*');
    if (!prefix && Matches(name, ipc)) return Separation::kIpc;
  }
  return name.starts_with("net.") ? Separation::kNet : Separation::kNone;
}

bool IsWellFormed(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.back() != '.' &&
         name.find("..") == name.npos && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.' || c == '/';
         });
}

}  // namespace

std::string SysctlName(std::string_view name) {
  std::string out(name);
  const size_t first = out.find_first_of("./");
  if (first == out.npos || out[first] == '.') return out;
  for (char& c : out) c = c == '/' ? '.' : c == '.' ? '/' : c;
  return out;
}

Status CheckUnsafeSysctls(std::span<const std::string> patterns) {
  for (const std::string& pattern : patterns) {
    const std::string name = SysctlName(pattern);
    std::string_view text = name;
    if (text.ends_with('*')) text.remove_suffix(1);
    if (text.ends_with('.')) text.remove_suffix(1);
    if (!IsWellFormed(text)) {
      return Status::BadRequest(Quote(pattern) + " is not the name of a sysctl");
    }
    if (SeparationOf(name) == Separation::kNone) {
      return Status::BadRequest("the sysctls " + Quote(pattern) + " are not separate for each Pod");
    }
  }
  return {};
}

std::optional<std::string> ForbiddenSysctl(const core::v1::Pod& pod,
                                           std::span<const std::string> unsafe) {
  if (!pod.spec.securityContext) return std::nullopt;
  for (const core::v1::Sysctl& sysctl : pod.spec.securityContext->sysctls) {
    const std::string name = SysctlName(sysctl.name);
    const auto forbidden = [&](std::string_view why) {
      return "forbidden sysctl: " + Quote(sysctl.name) + " " + std::string(why);
    };
    const Separation separation = SeparationOf(name);
    const bool safe = std::find(std::begin(kSafe), std::end(kSafe), name) != std::end(kSafe);
    const bool allowed =
        safe || std::any_of(unsafe.begin(), unsafe.end(), [&](const std::string& pattern) {
          return Matches(name, SysctlName(pattern));
        });
    if (!allowed) return forbidden("not allowlisted");
    if (separation == Separation::kIpc && pod.spec.hostIPC) {
      return forbidden("not allowed with host ipc enabled");
    }
    if (separation == Separation::kNet && pod.spec.hostNetwork) {
      return forbidden("not allowed with host net enabled");
    }
  }
  return std::nullopt;
}

}  // namespace cox::kubelet
