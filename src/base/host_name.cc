// SPDX-License-Identifier: Apache-2.0
#include "base/host_name.h"

#include <unistd.h>

namespace cox {

std::string HostName() {
  char name[256] = {};  // gethostname does not terminate a truncated name
  return gethostname(name, sizeof(name) - 1) == 0 ? name : std::string();
}

std::string LowerCaseHostName() {
  std::string name = HostName();
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

}  // namespace cox
