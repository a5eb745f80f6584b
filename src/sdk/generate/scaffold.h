// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::sdk {

struct ScaffoldOptions {
  std::string name;   // "backup-operator": a DNS label that begins with a letter
  std::string group;  // "example.com"; required with a kind
  std::string kind;   // "Backup"; empty: the operator watches ConfigMaps with a label
  std::string version = "v1";
};

// The files of a new operator by relative path: a program that builds with CMake and an installed
// SDK, a reconciler whose decision is a pure function, a test, and deployment manifests. The C++
// namespace is derived from the name (backup_operator); a single word gets the suffix "_operator".
//
// BadRequest for names that are invalid in Kubernetes or C++.
Result<std::vector<std::pair<std::string, std::string>>> ScaffoldOperator(
    const ScaffoldOptions& options);

}  // namespace cox::sdk
