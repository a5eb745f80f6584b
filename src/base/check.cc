// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <unistd.h>

#include <cstdlib>

namespace cox::internal {

CheckFailure::CheckFailure(std::string_view file, int line, std::string_view condition) {
  message_ = "F ";
  message_ += file.substr(file.rfind('/') + 1);
  message_ += ':' + std::to_string(line) + "] Check failed: ";
  message_ += condition;
  message_ += ": ";
}

void CheckFailure::Die() const {
  const std::string line = message_ + '\n';
  // A failure to write standard error is ignored.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  std::abort();
}

}  // namespace cox::internal
