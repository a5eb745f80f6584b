// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "base/status.h"

namespace cox::kubelet {

// "<what> <path>: <strerror>"; NotFound for ENOENT.
inline Status FileError(std::string_view what, std::string_view path, int error = errno) {
  return {error == ENOENT ? Reason::kNotFound : Reason::kInternalError,
          std::string(what) + " " + std::string(path) + ": " + std::strerror(error)};
}

}  // namespace cox::kubelet
