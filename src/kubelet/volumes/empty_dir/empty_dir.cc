// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/empty_dir/empty_dir.h"

#include <sys/stat.h>

#include "base/strings.h"
#include "kubelet/volumes/files/file_error.h"
#include "kubelet/volumes/files/file_tree.h"

namespace cox::kubelet {
namespace {

class EmptyDirPlugin final : public VolumePlugin {
 public:
  EmptyDirPlugin(Mounter& mounter, int64_t default_memory_bytes)
      : mounter_(mounter), default_memory_bytes_(default_memory_bytes) {}

  std::string_view name() const override { return "kubernetes.io/empty-dir"; }
  bool Supports(const core::v1::VolumeSource& source) const override {
    return source.emptyDir.has_value();
  }

  Result<VolumeSetUp> SetUp(Context&, const VolumeRequest& request) const override {
    const core::v1::EmptyDirVolumeSource& source = *request.volume.volumeSource.emptyDir;
    if (source.medium == core::v1::kStorageMediumMemory) {
      COX_RETURN_IF_ERROR(SetUpInMemory(request, source));
    } else if (source.medium.empty()) {
      COX_RETURN_IF_ERROR(SetUpOnDisk(request));
    } else {
      return Status::BadRequest("unsupported storage medium " + Quote(source.medium) +
                                "; supported are \"\" and \"Memory\"");
    }
    return VolumeSetUp();
  }

 private:
  Status SetUpInMemory(const VolumeRequest& request,
                       const core::v1::EmptyDirVolumeSource& source) const {
    COX_RETURN_IF_ERROR(MakeDirectories(request.path, 0755));
    COX_ASSIGN_OR_RETURN(const bool mounted, mounter_.IsMounted(request.path));
    if (mounted) return {};
    const int64_t limit = source.sizeLimit ? source.sizeLimit->Value() : 0;
    COX_RETURN_IF_ERROR(
        mounter_.MountTmpfs(request.path, limit > 0 ? limit : default_memory_bytes_));
    return OpenToContainers(request.path, request.fs_group());
  }

  static Status SetUpOnDisk(const VolumeRequest& request) {
    struct stat s {};
    // If it exists, it belongs to the containers: their changes are kept.
    if (::lstat(request.path.c_str(), &s) == 0) return {};
    // Create it under a name that no volume can have and rename it, so that an existing directory
    // is complete even after a crash.
    const std::string made = request.path + ".new";
    COX_RETURN_IF_ERROR(RemoveTree(made));
    COX_RETURN_IF_ERROR(MakeDirectories(made, 0755));
    COX_RETURN_IF_ERROR(OpenToContainers(made, request.fs_group()));
    if (::rename(made.c_str(), request.path.c_str()) != 0) return FileError("rename", made);
    return {};
  }

  static Status OpenToContainers(const std::string& path, const std::optional<gid_t>& group) {
    if (::chmod(path.c_str(), 0777) != 0) return FileError("chmod", path);
    return group ? SetGroup(path, *group, false) : Status();
  }

  Mounter& mounter_;
  const int64_t default_memory_bytes_;
};

}  // namespace

std::unique_ptr<const VolumePlugin> NewEmptyDirPlugin(Mounter& mounter,
                                                      int64_t default_memory_bytes) {
  return std::make_unique<EmptyDirPlugin>(mounter, default_memory_bytes);
}

}  // namespace cox::kubelet
