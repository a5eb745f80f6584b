// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "kubelet/environment/fields.h"
#include "kubelet/volumes/plugin/paths.h"

namespace cox::kubelet {

// A volume that a plugin has to set up.
struct VolumeRequest {
  const core::v1::Pod& pod;
  const core::v1::Volume& volume;
  const PodFacts& facts;
  std::string path;  // on the host, from VolumePlugin::PathOf

  // The group that the files of the volume belong to, if the Pod has one.
  std::optional<gid_t> fs_group() const {
    if (!pod.spec.securityContext || !pod.spec.securityContext->fsGroup) return std::nullopt;
    return static_cast<gid_t>(*pod.spec.securityContext->fsGroup);
  }
};

struct VolumeSetUp {
  // When to set up again although nothing has changed, because a token has to be replaced.
  std::optional<Clock::WallTime> again;
  bool changed = false;  // a file has changed
};

// One type of volume.
//
// Threads: All methods may be called concurrently for different Pods.
class VolumePlugin {
 public:
  virtual ~VolumePlugin() = default;

  // Upstream's name, which is part of the path: "kubernetes.io/empty-dir".
  virtual std::string_view name() const = 0;
  // Whether `source` is of this type.
  virtual bool Supports(const core::v1::VolumeSource& source) const = 0;
  // The directory or file on the host that containers mount.
  virtual std::string PathOf(const PodPaths& paths, const core::v1::Volume& volume) const {
    return paths.volume(std::string(name()), volume.name);
  }
  // Whether the kubelet writes the files. Containers get them read-only then: if a container could
  // replace a directory by a link, the kubelet would write, as root, wherever it leads
  // (CVE-2017-1002102).
  virtual bool IsWrittenByKubelet() const { return false; }
  // Creates the volume, or updates it if it exists. Called again when an object that it uses has
  // changed, and after a restart of the kubelet.
  virtual Result<VolumeSetUp> SetUp(Context& ctx, const VolumeRequest& request) const = 0;
};

using VolumePlugins = std::vector<std::unique_ptr<const VolumePlugin>>;

}  // namespace cox::kubelet
