// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox {

// The version of this build. All components report the same version: the API server at /version,
// kubelets in their Node, and every command with --version.
struct BuildInfo {
  // The version of the Kubernetes API, and the number of this project's release of it.
  std::string git_version = "v1.36.4+coxswain1";
  std::string git_commit = "unknown";
  std::string git_tree_state = "unknown";  // "clean", or "dirty" if there are uncommitted changes
  std::string build_date =
      "1970-01-01T00:00:00Z";  // the time of the commit, for reproducible builds
};

const BuildInfo& GetBuildInfo();
// For main(), before it starts threads.
void SetBuildInfo(BuildInfo info);

}  // namespace cox
