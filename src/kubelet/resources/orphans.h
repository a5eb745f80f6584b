// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox::kubelet {

// Ends the processes in a control group of a Pod that is over. They are of no container that the
// runtime knows, but of one whose start was broken off, as when the agent is killed in the middle
// of it: containerd forgets such a container, but its shim keeps it and would stay for ever. So
// the shim that is their parent is told to end, too. Returns at once, not when they have ended.
void EndOrphans(const std::string& group);

}  // namespace cox::kubelet
