// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::sdk {

struct ScaffoldOptions {
  std::string name;   // "backup-operator": a DNS label that begins with a letter
  std::string group;  // "example.com"; with a kind
  std::string kind;   // "Backup"; empty: the operator watches ConfigMaps with a label
  std::string version = "v1";
};

// The files of a new operator, by their path in its folder: a program that builds with CMake and an
// installed SDK, a reconciler whose decision is a pure function, a test, and what to deploy it
// with. Its code is in a namespace by the name, backup_operator; one word gets "_operator" after
// it.
//
// BadRequest for names that Kubernetes or C++ would not take.
Result<std::vector<std::pair<std::string, std::string>>> ScaffoldOperator(
    const ScaffoldOptions& options);

}  // namespace cox::sdk
