// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cox {
namespace {

bool WriteAll(int fd, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t some = ::write(fd, text.data() + written, text.size() - written);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    written += static_cast<size_t>(some);
  }
  return ::fsync(fd) == 0;
}

}  // namespace

Status ReplaceFile(const std::filesystem::path& path, const std::string& text, bool secret) {
  const auto failed = [&path] {
    return Status::Internal("cannot write " + path.string() + ": " + std::strerror(errno));
  };
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const std::string beside = path.string() + ".new";
  // A file that remained after a crash may have another mode.
  ::unlink(beside.c_str());
  const int fd =
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0600 : 0644);
  if (fd < 0) return failed();
  const bool written = WriteAll(fd, text);
  Status status = written ? Status() : failed();
  ::close(fd);
  if (status.ok() && ::rename(beside.c_str(), path.c_str()) != 0) status = failed();
  if (!status.ok()) ::unlink(beside.c_str());
  return status;
}

}  // namespace cox
