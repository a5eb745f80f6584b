// SPDX-License-Identifier: Apache-2.0
#include "object/validation/sysctl.h"

namespace cox::validation {

bool IsSysctlName(std::string_view name) {
  constexpr size_t kMaxLength = 253;
  if (name.empty() || name.size() > kMaxLength) return false;
  auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool at_start = true;  // of a word
  char before = '.';
  for (char c : name) {
    if (c == '.' || c == '/') {
      if (!plain(before)) return false;
      at_start = true;
    } else if (plain(c)) {
      at_start = false;
    } else if (at_start || (c != '-' && c != '_')) {
      return false;
    }
    before = c;
  }
  return plain(before);
}

std::string DottedSysctl(std::string_view name) {
  std::string out(name);
  const size_t first = out.find_first_of("./");
  if (first == out.npos || out[first] == '.') return out;
  for (char& c : out) c = c == '/' ? '.' : c == '.' ? '/' : c;
  return out;
}

SysctlNamespace NamespaceOfSysctl(std::string_view dotted) {
  if (dotted.starts_with("net.")) return SysctlNamespace::kNet;
  for (const std::string_view prefix : {"kernel.shm", "kernel.msg", "fs.mqueue."}) {
    if (dotted.starts_with(prefix)) return SysctlNamespace::kIpc;
  }
  return dotted == "kernel.sem" ? SysctlNamespace::kIpc : SysctlNamespace::kNone;
}

}  // namespace cox::validation
