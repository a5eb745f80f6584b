// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/cgroup_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "base/fd.h"
#include "kubelet/resources/orphans.h"

namespace cox::kubelet {

namespace {

namespace fs = std::filesystem;

Status Failed(const std::string& what, const std::string& path) {
  return Status::Internal(what + " " + path + ": " + std::strerror(errno));
}

Status WriteFile(const std::string& path, const std::string& value) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return Failed("open", path);
  const ssize_t written = ::write(fd.get(), value.data(), value.size());
  return written == static_cast<ssize_t>(value.size()) ? Status() : Failed("write", path);
}

// Creates `path` below `mount`; with cgroup v2 each group first enables the controllers for its
// children.
Status MakeGroups(const std::string& mount, const std::string& path, int version) {
  std::string at = mount;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    if (version == 2) {
      // One by one, because a kernel may lack some of them.
      for (const char* controller : {"+cpu", "+memory", "+pids", "+cpuset", "+io"}) {
        (void)WriteFile(at + "/cgroup.subtree_control", controller);
      }
    }
    at += "/" + name;
    if (::mkdir(at.c_str(), 0755) != 0 && errno != EEXIST) return Failed("mkdir", at);
  }
  return {};
}

Status RemoveGroups(const std::string& path) {
  std::error_code error;
  // The kernel removes the files of a group; only directories are removed here.
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) {
      COX_RETURN_IF_ERROR(RemoveGroups(entry.path().string()));
    }
  }
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  if (errno == EBUSY) {
    EndOrphans(path);
    return Status::Unavailable("rmdir " + path + ": it is in use");
  }
  return Failed("rmdir", path);
}

int VersionOf(const std::string& mount) {
  std::error_code error;
  return fs::exists(mount + "/cgroup.controllers", error) ? 2 : 1;
}

std::vector<std::string> Hierarchies(const std::string& mount, int version) {
  if (version == 2) return {mount};
  return {mount + "/cpu", mount + "/memory", mount + "/pids"};
}

// The runtime may have created groups in every hierarchy.
std::vector<std::string> AllHierarchies(const std::string& mount, int version) {
  if (version == 2) return {mount};
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(mount, error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

CgroupTree::CgroupTree(Options options)
    : options_(std::move(options)), version_(VersionOf(options_.mount)) {}

Status CgroupTree::Set(const std::string& path, const CgroupNumbers& numbers) const {
  for (const std::string& hierarchy : Hierarchies(options_.mount, version_)) {
    COX_RETURN_IF_ERROR(MakeGroups(hierarchy, path, version_));
  }
  for (const CgroupFile& file : CgroupFiles(numbers, path, version_, options_.mount)) {
    COX_RETURN_IF_ERROR(WriteFile(file.path, file.value));
  }
  return {};
}

Status CgroupTree::Ensure(const core::v1::Pod& pod) const {
  if (!options_.enabled || options_.driver != CgroupDriver::kCgroupfs) return {};
  CgroupNumbers numbers = PodNumbers(pod, options_.enforce_cpu);
  numbers.pids_limit = options_.pids_limit;
  return Set(PodCgroupPath(pod, options_.root, options_.driver), numbers);
}

Status CgroupTree::SetClasses(const std::vector<const core::v1::Pod*>& pods) const {
  if (!options_.enabled || options_.driver != CgroupDriver::kCgroupfs) return {};
  COX_RETURN_IF_ERROR(Set(QosCgroupPath(core::v1::kPodQOSBurstable, options_.root, options_.driver),
                          BurstableNumbers(pods)));
  return Set(QosCgroupPath(core::v1::kPodQOSBestEffort, options_.root, options_.driver),
             {.cpu_shares = MilliCpuToShares(0)});
}

Status CgroupTree::Remove(const core::v1::Pod& pod) const {
  if (!options_.enabled || options_.driver != CgroupDriver::kCgroupfs) return {};
  for (const auto qos :
       {core::v1::kPodQOSGuaranteed, core::v1::kPodQOSBurstable, core::v1::kPodQOSBestEffort}) {
    core::v1::Pod of_class;
    of_class.metadata.uid = pod.metadata.uid;
    of_class.status.qosClass = qos;
    const std::string path = PodCgroupPath(of_class, options_.root, options_.driver);
    for (const std::string& hierarchy : AllHierarchies(options_.mount, version_)) {
      COX_RETURN_IF_ERROR(RemoveGroups(hierarchy + path));
    }
  }
  return {};
}

}  // namespace cox::kubelet
