// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace cox::cmd {

Status WriteFile(const std::filesystem::path& path, const std::string& text, bool secret) {
  Status failed = Status::Internal("cannot write " + path.string());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, secret ? 0600 : 0644);
  if (fd < 0) return failed;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t some = write(fd, text.data() + written, text.size() - written);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) break;
    written += static_cast<size_t>(some);
  }
  const bool closed = close(fd) == 0;
  return closed && written == text.size() ? Status() : failed;
}

}  // namespace cox::cmd
