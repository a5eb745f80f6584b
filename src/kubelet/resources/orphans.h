// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox::kubelet {

// Kills the processes in the cgroup of a Pod that has ended. They belong to a container whose start
// was interrupted, for example because the kubelet was killed: containerd drops such a container,
// but its shim would keep it running forever. So the shim, their parent, is terminated too. Returns
// without waiting for their end.
void EndOrphans(const std::string& group);

}  // namespace cox::kubelet
