// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"

namespace cox::kubelet {

// `root` is the prefix of /proc, for tests.

// Checks the sysctls that the kubelet relies on (protectKernelDefaults): how the kernel handles a
// lack of memory and its own errors, and how many keys containers may have. Invalid, with all that
// differ and their expected values.
Status CheckKernelDefaults(const std::string& root = "");

// Invalid if the machine has swap (failSwapOn): Pods would slow down instead of being killed at
// their limits, and without the mount option `noswap` Secrets could be written to the disk.
Status CheckSwapOff(const std::string& root = "");

}  // namespace cox::kubelet
