// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/host_path/host_path.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "kubelet/volumes/files/file_error.h"
#include "kubelet/volumes/files/file_tree.h"

namespace cox::kubelet {

namespace {

Status Failed(const std::string& path, std::string_view what) {
  return Status::BadRequest("hostPath type check failed: " + path + " is not " + std::string(what));
}

}  // namespace

Status PrepareHostPath(const core::v1::HostPathVolumeSource& source) {
  const std::string& path = source.path;
  const std::string type = source.type.value_or("");
  // Follows symlinks, because the path is controlled by the administrator.
  struct stat s {};
  const bool there = ::stat(path.c_str(), &s) == 0;
  if (!there && errno != ENOENT && errno != ENOTDIR && !type.empty()) {
    return FileError("stat", path);
  }
  if (type.empty()) return {};
  if (type == core::v1::kHostPathDirectoryOrCreate) {
    return there ? (S_ISDIR(s.st_mode) ? Status() : Failed(path, "a directory"))
                 : MakeDirectories(path, 0755);
  }
  if (type == core::v1::kHostPathFileOrCreate) {
    if (there) return S_ISREG(s.st_mode) ? Status() : Failed(path, "a file");
    const Fd fd(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
    return fd.valid() ? Status() : FileError("create", path);
  }
  if (type == core::v1::kHostPathDirectory) {
    return there && S_ISDIR(s.st_mode) ? Status() : Failed(path, "a directory");
  }
  if (type == core::v1::kHostPathFile) {
    return there && S_ISREG(s.st_mode) ? Status() : Failed(path, "a file");
  }
  if (type == core::v1::kHostPathSocket) {
    return there && S_ISSOCK(s.st_mode) ? Status() : Failed(path, "a socket");
  }
  if (type == core::v1::kHostPathCharDev) {
    return there && S_ISCHR(s.st_mode) ? Status() : Failed(path, "a character device");
  }
  if (type == core::v1::kHostPathBlockDev) {
    return there && S_ISBLK(s.st_mode) ? Status() : Failed(path, "a block device");
  }
  return Status::BadRequest(type + " is an invalid volume type");
}

namespace {

class HostPathPlugin final : public VolumePlugin {
 public:
  std::string_view name() const override { return "kubernetes.io/host-path"; }
  bool Supports(const core::v1::VolumeSource& source) const override {
    return source.hostPath.has_value();
  }
  std::string PathOf(const PodPaths&, const core::v1::Volume& volume) const override {
    return volume.volumeSource.hostPath->path;
  }
  Result<VolumeSetUp> SetUp(Context&, const VolumeRequest& request) const override {
    COX_RETURN_IF_ERROR(PrepareHostPath(*request.volume.volumeSource.hostPath));
    return VolumeSetUp();
  }
};

}  // namespace

std::unique_ptr<const VolumePlugin> NewHostPathPlugin() {
  return std::make_unique<HostPathPlugin>();
}

}  // namespace cox::kubelet
