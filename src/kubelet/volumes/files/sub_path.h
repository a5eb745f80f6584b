// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "kubelet/volumes/files/file_error.h"

namespace cox::kubelet {

// OK for relative paths without "..".
Status CheckRelativePath(std::string_view path);

// Opens `sub_path` in the volume at `volume`, a directory or a file, as an O_PATH handle for a bind
// mount. Missing directories are created with the mode of the volume.
//
// Guarantees: the handle refers to something below `volume`, even if a container changes symlinks
//   concurrently: the kernel resolves the path in one call that cannot leave the volume (openat2),
//   and only the handle is used afterwards, never the path. Symlinks within the volume work;
//   absolute ones and those that lead out are rejected (CVE-2017-1002101, CVE-2021-25741).
Result<Fd> OpenSubPath(const std::string& volume, const std::string& sub_path);

}  // namespace cox::kubelet
