// SPDX-License-Identifier: Apache-2.0
#include "sdk/resource/host_name.h"

#include <unistd.h>

#include <array>

namespace cox::sdk {

std::string HostName() {
  std::array<char, 256> name{};  // the last byte stays zero whatever gethostname does
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

}  // namespace cox::sdk
