// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Names of sysctls in API fields: "net.ipv4.tcp_syncookies" or "net/ipv4/tcp_syncookies".
namespace cox::validation {

// Words of [a-z0-9] with - and _ inside, separated by dots or slashes; at most 253 characters.
bool IsSysctlName(std::string_view name);

// The name with dots: "net/ipv4/conf/eth0.5/x" becomes "net.ipv4.conf.eth0/5.x".
std::string DottedSysctl(std::string_view name);

// The kernel namespace to which a sysctl belongs; kNone: the value is the same for all Pods and the
// node.
enum class SysctlNamespace : uint8_t { kNone, kIpc, kNet };
// `dotted`: a name, or a prefix that ends with "*", which must match only names of one namespace.
SysctlNamespace NamespaceOfSysctl(std::string_view dotted);

}  // namespace cox::validation
