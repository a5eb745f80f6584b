// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/manager.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/strings.h"
#include "kubelet/volumes/files/file_tree.h"
#include "kubelet/volumes/files/sub_path.h"
#include "kubelet/volumes/host_path.h"
#include "kubelet/volumes/paths.h"

namespace cox::kubelet {

using core::v1::Pod;
using core::v1::Volume;
using core::v1::VolumeMount;

namespace {

// The directory's name; "" for kinds that have none, or are not known.
std::string PluginOf(const core::v1::VolumeSource& source) {
  if (source.emptyDir) return "kubernetes.io/empty-dir";
  if (source.configMap) return "kubernetes.io/configmap";
  if (source.secret) return "kubernetes.io/secret";
  if (source.downwardAPI) return "kubernetes.io/downward-api";
  if (source.projected) return "kubernetes.io/projected";
  return "";
}

// Null if the Pod has no such volume.
const Volume* FindVolume(const Pod& pod, const std::string& name) {
  const auto found = std::find_if(pod.spec.volumes.begin(), pod.spec.volumes.end(),
                                  [&name](const Volume& volume) { return volume.name == name; });
  return found == pod.spec.volumes.end() ? nullptr : &*found;
}

// Files that we write are not for containers to change: who could put a link in the place of a
// directory would have us write, as root, wherever it leads (CVE-2017-1002102).
bool IsOurs(const Pod& pod, const std::string& volume) {
  const Volume* found = FindVolume(pod, volume);
  return found != nullptr && HasPayload(found->volumeSource);
}

std::optional<gid_t> FsGroup(const Pod& pod) {
  if (!pod.spec.securityContext || !pod.spec.securityContext->fsGroup) return std::nullopt;
  return static_cast<gid_t>(*pod.spec.securityContext->fsGroup);
}

// Uids come from the API; as a part of a path they are checked all the same.
Status CheckUid(const std::string& uid) {
  if (uid.empty() || uid == "." || uid == ".." || uid.find('/') != std::string::npos) {
    return Status::BadRequest("not a Pod's uid: " + Quote(uid));
  }
  return {};
}

}  // namespace

VolumeManager::VolumeManager(Options options, ObjectSource& objects, TokenSource& tokens,
                             Mounter& mounter)
    : options_(std::move(options)), objects_(objects), tokens_(tokens), mounter_(mounter) {}

Result<VolumeManager::SetUpResult> VolumeManager::SetUp(Context& ctx, const Pod& pod,
                                                        const PodFacts& facts) {
  COX_RETURN_IF_ERROR(CheckUid(pod.metadata.uid));
  if (!pod.spec.volumes.empty()) {
    // Containers get in by mounts; other users of the host shall not get in by the path: what is
    // below is readable, and in part writable, for everybody.
    COX_RETURN_IF_ERROR(MakeDirectories(PodPaths(options_.root_dir, pod.metadata.uid).pod(), 0750));
  }
  SetUpResult result;
  Status first;
  for (const Volume& volume : pod.spec.volumes) {
    const Status status = SetUpOne(ctx, pod, volume, facts, result);
    if (status.ok() || !first.ok()) continue;
    first = Status(status.reason(), "MountVolume.SetUp failed for volume " + Quote(volume.name) +
                                        " : " + status.message());
  }
  if (!first.ok()) return first;
  return result;
}

Status VolumeManager::SetUpOne(Context& ctx, const Pod& pod, const Volume& volume,
                               const PodFacts& facts, SetUpResult& result) {
  const core::v1::VolumeSource& source = volume.volumeSource;
  if (source.hostPath) return PrepareHostPath(*source.hostPath);
  if (source.emptyDir) return SetUpEmptyDir(pod, volume);
  if (!HasPayload(source)) {
    return Status::BadRequest(
        "no volume plugin matched: this node knows emptyDir, hostPath, configMap, secret, "
        "downwardAPI and projected volumes");
  }
  COX_ASSIGN_OR_RETURN(const VolumePayload payload,
                       CollectPayload(ctx, pod, source, {objects_, tokens_, facts}));
  const std::string path =
      PodPaths(options_.root_dir, pod.metadata.uid).volume(PluginOf(source), volume.name);
  COX_RETURN_IF_ERROR(MakeDirectories(path, 0755));
  // What is secret never reaches a disk.
  if (!source.configMap) COX_RETURN_IF_ERROR(EnsureTmpfs(path, 0));
  COX_ASSIGN_OR_RETURN(const bool changed,
                       WriteAtomically(path, payload.files, FsGroup(pod), ctx.clock().Now()));
  result.changed |= changed;
  if (payload.refresh) {
    result.again = std::min(result.again.value_or(*payload.refresh), *payload.refresh);
  }
  return {};
}

Status VolumeManager::EnsureTmpfs(const std::string& path, int64_t bytes) {
  COX_ASSIGN_OR_RETURN(const bool mounted, mounter_.IsMounted(path));
  return mounted ? Status() : mounter_.MountTmpfs(path, bytes);
}

Status VolumeManager::SetUpEmptyDir(const Pod& pod, const Volume& volume) {
  const core::v1::EmptyDirVolumeSource& source = *volume.volumeSource.emptyDir;
  const std::string path = PodPaths(options_.root_dir, pod.metadata.uid)
                               .volume(PluginOf(volume.volumeSource), volume.name);
  const std::optional<gid_t> group = FsGroup(pod);
  if (source.medium == core::v1::kStorageMediumMemory) {
    COX_RETURN_IF_ERROR(MakeDirectories(path, 0755));
    const int64_t limit = source.sizeLimit ? source.sizeLimit->Value() : 0;
    COX_ASSIGN_OR_RETURN(const bool mounted, mounter_.IsMounted(path));
    if (mounted) return {};
    COX_RETURN_IF_ERROR(
        mounter_.MountTmpfs(path, limit > 0 ? limit : options_.default_memory_bytes));
    if (::chmod(path.c_str(), 0777) != 0) return FileError("chmod", path);
    return group ? SetGroup(path, *group, false) : Status();
  }
  if (!source.medium.empty()) {
    return Status::BadRequest("storage medium " + Quote(source.medium) +
                              " is not known here; use \"\" or \"Memory\"");
  }
  struct stat s {};
  // It is the containers' now: what they did to it stays.
  if (::lstat(path.c_str(), &s) == 0) return {};
  // Made under another name, which no volume can have: one that is there is complete, also after a
  // crash.
  const std::string made = path + ".new";
  COX_RETURN_IF_ERROR(RemoveTree(made));
  COX_RETURN_IF_ERROR(MakeDirectories(made, 0755));
  if (::chmod(made.c_str(), 0777) != 0) return FileError("chmod", made);
  if (group) COX_RETURN_IF_ERROR(SetGroup(made, *group, false));
  if (::rename(made.c_str(), path.c_str()) != 0) return FileError("rename", made);
  return {};
}

Result<std::string> VolumeManager::HostPathOf(const Pod& pod, const std::string& volume) const {
  if (const Volume* found = FindVolume(pod, volume)) {
    if (found->volumeSource.hostPath) return found->volumeSource.hostPath->path;
    const std::string plugin = PluginOf(found->volumeSource);
    if (!plugin.empty()) {
      return PodPaths(options_.root_dir, pod.metadata.uid).volume(plugin, volume);
    }
  }
  return Status::BadRequest("cannot find volume " + Quote(volume) + " to mount into container");
}

Result<std::vector<ContainerMount>> VolumeManager::MountsOf(const Pod& pod,
                                                            const core::v1::Container& container,
                                                            const Environment& environment) {
  std::vector<ContainerMount> mounts;
  for (size_t i = 0; i < container.volumeMounts.size(); ++i) {
    const VolumeMount& mount = container.volumeMounts[i];
    COX_ASSIGN_OR_RETURN(std::string path, HostPathOf(pod, mount.name));
    // Whoever insists on it relies on it; "IfPossible" is not.
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
    // A path in the container is from its root, however it is written.
    const std::string inside =
        mount.mountPath.starts_with('/') ? mount.mountPath : "/" + mount.mountPath;
    mounts.push_back({.volume = mount.name,
                      .host_path = std::move(path),
                      .container_path = inside,
                      .read_only = mount.readOnly || IsOurs(pod, mount.name),
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
  // Of the container's life before: what the path means may have changed.
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
  // Binds of subPaths first: they are of the volumes. <volume>/<container>/<index>
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
