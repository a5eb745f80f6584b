// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/manager.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/strings.h"
#include "kubelet/volumes/empty_dir/empty_dir.h"
#include "kubelet/volumes/files/file_tree.h"
#include "kubelet/volumes/files/sub_path.h"
#include "kubelet/volumes/host_path/host_path.h"
#include "kubelet/volumes/payload/payload_plugins.h"
#include "kubelet/volumes/plugin/paths.h"

namespace cox::kubelet {

using core::v1::Pod;
using core::v1::Volume;
using core::v1::VolumeMount;

namespace {

// Null if the Pod has no such volume.
const Volume* FindVolume(const Pod& pod, const std::string& name) {
  const auto found = std::find_if(pod.spec.volumes.begin(), pod.spec.volumes.end(),
                                  [&name](const Volume& volume) { return volume.name == name; });
  return found == pod.spec.volumes.end() ? nullptr : &*found;
}

// UIDs come from the API, but are part of a path: reject path separators.
Status CheckUid(const std::string& uid) {
  if (uid.empty() || uid == "." || uid == ".." || uid.find('/') != std::string::npos) {
    return Status::BadRequest("not a Pod's uid: " + Quote(uid));
  }
  return {};
}

VolumePlugins AllPlugins(const VolumeManager::Options& options, ObjectSource& objects,
                         TokenSource& tokens, Mounter& mounter) {
  VolumePlugins plugins = NewPayloadPlugins(objects, tokens, mounter);
  plugins.push_back(NewEmptyDirPlugin(mounter, options.default_memory_bytes));
  plugins.push_back(NewHostPathPlugin());
  return plugins;
}

}  // namespace

VolumeManager::VolumeManager(Options options, ObjectSource& objects, TokenSource& tokens,
                             Mounter& mounter)
    : options_(std::move(options)),
      tokens_(tokens),
      mounter_(mounter),
      plugins_(AllPlugins(options_, objects, tokens, mounter)) {}

const VolumePlugin* VolumeManager::FindPlugin(const core::v1::VolumeSource& source) const {
  for (const auto& plugin : plugins_) {
    if (plugin->Supports(source)) return plugin.get();
  }
  return nullptr;
}

Result<VolumeSetUp> VolumeManager::SetUp(Context& ctx, const Pod& pod, const PodFacts& facts) {
  COX_RETURN_IF_ERROR(CheckUid(pod.metadata.uid));
  if (!pod.spec.volumes.empty()) {
    // Containers use mounts. The mode keeps other host users out, because much below it is
    // readable, and some of it writable, for all.
    COX_RETURN_IF_ERROR(MakeDirectories(PodPaths(options_.root_dir, pod.metadata.uid).pod(), 0750));
  }
  VolumeSetUp all;
  Status first;
  for (const Volume& volume : pod.spec.volumes) {
    const Result<VolumeSetUp> one = SetUpOne(ctx, pod, volume, facts);
    if (one.ok()) {
      all.changed |= one->changed;
      if (one->again) all.again = std::min(all.again.value_or(*one->again), *one->again);
    } else if (first.ok()) {
      first =
          Status(one.status().reason(), "MountVolume.SetUp failed for volume " +
                                            Quote(volume.name) + " : " + one.status().message());
    }
  }
  if (!first.ok()) return first;
  return all;
}

Result<VolumeSetUp> VolumeManager::SetUpOne(Context& ctx, const Pod& pod, const Volume& volume,
                                            const PodFacts& facts) const {
  const VolumePlugin* plugin = FindPlugin(volume.volumeSource);
  if (plugin == nullptr) {
    return Status::BadRequest(
        "no volume plugin matched: this node knows emptyDir, hostPath, configMap, secret, "
        "downwardAPI and projected volumes");
  }
  const PodPaths paths(options_.root_dir, pod.metadata.uid);
  return plugin->SetUp(ctx, {pod, volume, facts, plugin->PathOf(paths, volume)});
}

Result<std::vector<ContainerMount>> VolumeManager::MountsOf(const Pod& pod,
                                                            const core::v1::Container& container,
                                                            const Environment& environment) {
  std::vector<ContainerMount> mounts;
  for (size_t i = 0; i < container.volumeMounts.size(); ++i) {
    const VolumeMount& mount = container.volumeMounts[i];
    const Volume* volume = FindVolume(pod, mount.name);
    const VolumePlugin* plugin = volume == nullptr ? nullptr : FindPlugin(volume->volumeSource);
    if (plugin == nullptr) {
      return Status::BadRequest("cannot find volume " + Quote(mount.name) +
                                " to mount into container");
    }
    std::string path = plugin->PathOf(PodPaths(options_.root_dir, pod.metadata.uid), *volume);
    // "Enabled" is mandatory and not supported; "IfPossible" is ignored.
    if (mount.recursiveReadOnly.value_or("") == "Enabled") {
      return Status::BadRequest("volume " + Quote(mount.name) +
                                " requested recursive read-only mode, but it is not supported by "
                                "this node");
    }
    std::string sub_path = mount.subPath;
    if (!mount.subPathExpr.empty()) {
      COX_ASSIGN_OR_RETURN(sub_path, ExpandPath(mount.subPathExpr, environment));
    }
    if (!sub_path.empty()) {
      Result<std::string> bound = BindSubPath(pod, container.name, mount.name, i, path, sub_path);
      if (!bound.ok()) {
        return Status(bound.status().reason(), "failed to prepare subPath for volumeMount " +
                                                   Quote(mount.name) + " of container " +
                                                   Quote(container.name) + ": " +
                                                   bound.status().message());
      }
      path = std::move(*bound);
    }
    // Relative paths are relative to the root of the container.
    const std::string inside =
        mount.mountPath.starts_with('/') ? mount.mountPath : "/" + mount.mountPath;
    mounts.push_back({.volume = mount.name,
                      .host_path = std::move(path),
                      .container_path = inside,
                      .read_only = mount.readOnly || plugin->IsWrittenByKubelet(),
                      .propagation = mount.mountPropagation.value_or("None")});
  }
  return mounts;
}

Result<std::string> VolumeManager::BindSubPath(const Pod& pod, const std::string& container,
                                               const std::string& volume, size_t index,
                                               const std::string& volume_path,
                                               const std::string& sub_path) {
  COX_RETURN_IF_ERROR(CheckUid(pod.metadata.uid));
  COX_ASSIGN_OR_RETURN(const Fd handle, OpenSubPath(volume_path, sub_path));
  const PodPaths paths(options_.root_dir, pod.metadata.uid);
  const std::string target = paths.sub_path(volume, container, index);
  // Unmount that of the previous container instance: the path may resolve differently now.
  COX_RETURN_IF_ERROR(mounter_.Unmount(target));
  struct stat s {};
  if (::fstat(handle.get(), &s) != 0) return FileError("stat", sub_path);
  COX_RETURN_IF_ERROR(RemoveTree(target));
  if (S_ISDIR(s.st_mode)) {
    COX_RETURN_IF_ERROR(MakeDirectories(target, 0750));
  } else {
    COX_RETURN_IF_ERROR(MakeDirectories(target.substr(0, target.find_last_of('/')), 0750));
    COX_RETURN_IF_ERROR(WriteWhole(target, "", 0640));
  }
  COX_RETURN_IF_ERROR(mounter_.BindHandle(handle.get(), target));
  return target;
}

Status VolumeManager::UnmountBelow(const std::string& path, int depth) {
  COX_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(path));
  for (const std::string& name : names) {
    const std::string at = path + "/" + name;
    if (depth > 0) {
      struct stat s {};
      if (::lstat(at.c_str(), &s) == 0 && S_ISDIR(s.st_mode)) {
        COX_RETURN_IF_ERROR(UnmountBelow(at, depth - 1));
      }
      continue;
    }
    COX_RETURN_IF_ERROR(mounter_.Unmount(at));
  }
  return {};
}

Status VolumeManager::TearDown(const std::string& uid) {
  COX_RETURN_IF_ERROR(CheckUid(uid));
  const PodPaths paths(options_.root_dir, uid);
  // subPath mounts first, because they use the volumes. <volume>/<container>/<index>
  COX_RETURN_IF_ERROR(UnmountBelow(paths.sub_paths(), 2));
  // <plugin>/<volume>
  COX_RETURN_IF_ERROR(UnmountBelow(paths.volumes(), 1));
  COX_RETURN_IF_ERROR(RemoveTree(paths.pod()));
  tokens_.Forget(uid);
  return {};
}

Result<std::vector<std::string>> VolumeManager::PodsOnDisk() const {
  return ListDirectory(options_.root_dir + "/pods");
}

}  // namespace cox::kubelet
