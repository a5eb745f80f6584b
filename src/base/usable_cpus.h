// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cox {

// The number of CPUs that this process can use at the same time: those of its affinity mask, at
// most the CPU quota of its control groups (v2), rounded up. At least 1.
int UsableCpus();

// The smallest CPU quota of a control group and the groups above it; nullopt if there is none.
// `root` is the mount point of the control groups, `group` the path of the group below it.
std::optional<double> CpuQuota(const std::string& root, std::string_view group);

}  // namespace cox
