// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubelet/volumes/files/mounter.h"
#include "kubelet/volumes/plugin/plugin.h"

namespace cox::kubelet {

// emptyDir: a directory that the Pod's containers share, on disk or in memory.
// `default_memory_bytes`: the size of tmpfs volumes without a limit; 0: the kernel's default.
std::unique_ptr<const VolumePlugin> NewEmptyDirPlugin(Mounter& mounter,
                                                      int64_t default_memory_bytes);

}  // namespace cox::kubelet
