// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "cmd/up/options.h"

// The certificates and kubeconfigs of the cluster.
namespace cox::cmd {

// Creates what is missing and renews what expires soon. Returns the names of the files that were
// written. After an error it continues with the other files and returns the first error.
Result<std::vector<std::string>> EnsureCredentials(const UpOptions& options, Clock::WallTime now);

// Does so every day until `ctx` stops; after an error, every hour. All servers and clients of the
// cluster, also etcd, use the new files for new connections.
void KeepCredentials(Context& ctx, const UpOptions& options);

}  // namespace cox::cmd
