// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cox::apiserver {

// What a server is told about who decides.
struct AuthorizationOptions {
  std::vector<std::string> modes = {"RBAC"};  // asked in order
};

}  // namespace cox::apiserver
