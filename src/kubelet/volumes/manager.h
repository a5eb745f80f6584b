// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "kubelet/environment/environment.h"
#include "kubelet/objects/object_source.h"
#include "kubelet/volumes/files/mounter.h"
#include "kubelet/volumes/payload/tokens.h"
#include "kubelet/volumes/plugin/plugin.h"

namespace cox::kubelet {

// A mount of a container.
struct ContainerMount {
  std::string volume;
  std::string host_path;
  std::string container_path;
  bool read_only = false;
  std::string propagation = "None";  // "None", "HostToContainer", "Bidirectional"

  bool operator==(const ContainerMount&) const = default;
};

// The volumes of the Pods on this node. The types of volumes are plugins; the list is in
// manager.cc.
//
// The whole state is on disk, so that a restarted kubelet finds the existing volumes. Volumes are
// set up again whenever an object has changed; only differences are written.
// Threads: All methods may be called concurrently for different Pods; for one Pod one at a time.
// Ownership: The sources and the mounter outlive it.
class VolumeManager {
 public:
  struct Options {
    std::string root_dir = "/var/lib/kubelet";
    // Size of memory-backed volumes without a limit; 0: the kernel's default.
    int64_t default_memory_bytes = 0;
  };
  VolumeManager(Options options, ObjectSource& objects, TokenSource& tokens, Mounter& mounter);

  // Sets up all volumes of the Pod. If one fails, the others are set up nevertheless, and the first
  // error is returned, with upstream's text `MountVolume.SetUp failed for volume "v" : ...`.
  Result<VolumeSetUp> SetUp(Context& ctx, const core::v1::Pod& pod, const PodFacts& facts);

  // The mounts of a container, read-only for volumes that the kubelet writes. Binds subPaths to
  // separate mount points. Returns the errors of CreateContainerConfigError. REQUIRES: SetUp was
  // OK.
  Result<std::vector<ContainerMount>> MountsOf(const core::v1::Pod& pod,
                                               const core::v1::Container& container,
                                               const Environment& environment);

  // Unmounts and removes everything that the Pod has on disk, based on the directory content: the
  // Pod itself may be unknown. Never follows a symlink or deletes through a mount. Retry after an
  // error.
  Status TearDown(const std::string& uid);
  // UIDs of Pods with a directory on disk.
  Result<std::vector<std::string>> PodsOnDisk() const;

 private:
  Result<VolumeSetUp> SetUpOne(Context& ctx, const core::v1::Pod& pod,
                               const core::v1::Volume& volume, const PodFacts& facts) const;
  // Null if no plugin supports the source.
  const VolumePlugin* FindPlugin(const core::v1::VolumeSource& source) const;
  Result<std::string> BindSubPath(const core::v1::Pod& pod, const std::string& container,
                                  const std::string& volume, size_t index,
                                  const std::string& volume_path, const std::string& sub_path);
  Status UnmountBelow(const std::string& path, int depth);

  const Options options_;
  TokenSource& tokens_;
  Mounter& mounter_;
  const VolumePlugins plugins_;
};

}  // namespace cox::kubelet
