// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/atomic_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <random>
#include <set>

#include "base/file_watch.h"
#include "base/random.h"
#include "base/strings.h"
#include "kubelet/volumes/files/file_tree.h"
#include "kubelet/volumes/files/sub_path.h"

namespace cox::kubelet {

namespace {

constexpr char kData[] = "..data";
constexpr char kNewData[] = "..data_tmp";

std::string FirstPart(const std::string& path) { return path.substr(0, path.find('/')); }

Status CheckPaths(const Payload& payload) {
  for (const auto& [path, file] : payload) {
    if (path.empty()) return Status::BadRequest("a path in a volume is empty");
    if (path.size() > 4096) return Status::BadRequest("path " + Quote(path) + " is too long");
    COX_RETURN_IF_ERROR(CheckRelativePath(path));
    // Names that begin with ".." are reserved for the atomic writer.
    if (path.starts_with("..")) {
      return Status::BadRequest("must not start with '..': " + Quote(path));
    }
  }
  return {};
}

// "" if there is no such link.
std::string ReadLink(const std::string& path) {
  char buffer[256];
  const ssize_t n = ::readlink(path.c_str(), buffer, sizeof(buffer));
  return n < 0 ? std::string() : std::string(buffer, static_cast<size_t>(n));
}

// Collects the paths of all files below `dir`.
void Collect(const std::string& dir, const std::string& prefix, std::set<std::string>& found) {
  const Result<std::vector<std::string>> names = ListDirectory(dir);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    struct stat s {};
    if (::lstat((dir + "/" + name).c_str(), &s) != 0) continue;
    if (S_ISDIR(s.st_mode)) {
      Collect(dir + "/" + name, prefix + name + "/", found);
    } else {
      found.insert(prefix + name);
    }
  }
}
mode_t WithGroup(mode_t mode, const std::optional<gid_t>& group) {
  return group ? mode | 0440 : mode;
}
bool IsSame(const std::string& dir, const Payload& payload, const std::optional<gid_t>& group) {
  std::set<std::string> found;
  Collect(dir, "", found);
  if (found.size() != payload.size()) return false;
  for (const auto& [path, file] : payload) {
    if (!found.contains(path)) return false;
    struct stat s {};
    const std::string at = dir + "/" + path;
    if (::lstat(at.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
    if ((s.st_mode & 07777) != WithGroup(file.mode, group)) return false;
    if (static_cast<size_t>(s.st_size) != file.data.size()) return false;
    const Result<std::string> data = ReadBoundedFile(at);
    if (!data.ok() || *data != file.data) return false;
  }
  return true;
}

std::string NewName(Clock::WallTime now) {
  const time_t seconds = std::chrono::system_clock::to_time_t(now);
  struct tm parts {};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  const size_t n = std::strftime(text, sizeof(text), "..%Y_%m_%d_%H_%M_%S.", &parts);
  return std::string(text, n) + std::to_string(RandomBelow(10'000'000'000));
}

Status WriteFiles(const std::string& dir, const Payload& payload,
                  const std::optional<gid_t>& group) {
  if (::mkdir(dir.c_str(), 0755) != 0) return FileError("mkdir", dir);
  if (::chmod(dir.c_str(), 0755) != 0) return FileError("chmod", dir);
  for (const auto& [path, file] : payload) {
    const std::string at = dir + "/" + path;
    if (const size_t slash = path.find_last_of('/'); slash != std::string::npos) {
      COX_RETURN_IF_ERROR(MakeDirectories(dir + "/" + path.substr(0, slash), 0755));
    }
    COX_RETURN_IF_ERROR(WriteWhole(at, file.data, file.mode));
    if (file.owner && ::lchown(at.c_str(), *file.owner, static_cast<gid_t>(-1)) != 0) {
      return FileError("chown", at);
    }
  }
  return group ? SetGroup(dir, *group, /*read_only=*/true) : Status();
}

Status SwapData(const std::string& target, const std::string& name) {
  const std::string temporary = target + "/" + kNewData;
  const std::string data = target + "/" + kData;
  if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) return FileError("remove", temporary);
  if (::symlink(name.c_str(), temporary.c_str()) != 0) return FileError("symlink", temporary);
  if (::rename(temporary.c_str(), data.c_str()) != 0) return FileError("rename", data);
  return {};
}

// Creates the names that readers use: symlinks through ..data, one for each first path element.
Status LinkNames(const std::string& target, const Payload& payload) {
  std::set<std::string> wanted;
  for (const auto& [path, file] : payload) wanted.insert(FirstPart(path));
  for (const std::string& name : wanted) {
    const std::string at = target + "/" + name;
    const std::string to = std::string(kData) + "/" + name;
    if (ReadLink(at) == to) continue;
    COX_RETURN_IF_ERROR(RemoveTree(at));
    if (::symlink(to.c_str(), at.c_str()) != 0) return FileError("symlink", at);
  }
  COX_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(target));
  const std::string current = ReadLink(target + "/" + kData);
  for (const std::string& name : names) {
    if (wanted.contains(name) || name == kData || name == current) continue;
    // Symlinks of removed keys, and old directories, including those of an interrupted write.
    COX_RETURN_IF_ERROR(RemoveTree(target + "/" + name));
  }
  return {};
}

}  // namespace

Result<bool> WriteAtomically(const std::string& target, const Payload& payload,
                             std::optional<gid_t> group, Clock::WallTime now) {
  COX_RETURN_IF_ERROR(CheckPaths(payload));
  const std::string current = ReadLink(target + "/" + kData);
  if (!current.empty() && IsSame(target + "/" + current, payload, group)) {
    COX_RETURN_IF_ERROR(LinkNames(target, payload));
    return false;
  }
  const std::string name = NewName(now);
  Status written = WriteFiles(target + "/" + name, payload, group);
  if (written.ok()) written = SwapData(target, name);
  if (!written.ok()) {
    (void)RemoveTree(target + "/" + name);
    return written;
  }
  COX_RETURN_IF_ERROR(LinkNames(target, payload));
  return true;
}

}  // namespace cox::kubelet
