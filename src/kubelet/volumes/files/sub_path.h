// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "kubelet/volumes/files/file_error.h"

namespace cox::kubelet {

// OK for relative paths that do not leave where they begin: no "..", not absolute.
Status CheckRelativePath(std::string_view path);

// Opens what `sub_path` means within the volume at `volume`, a directory or a file, as a handle
// (O_PATH) to bind from. Where nothing is, directories are made, with the mode of the volume.
//
// Guarantees: the handle is of something below `volume`, whatever links are in there and whatever a
//   container does to them meanwhile: the kernel resolves the path in one call that refuses to
//   leave the volume, and what it found is used by the handle, never by its name again. Links
//   within the volume work; absolute ones and those that lead out are refused (CVE-2017-1002101,
//   CVE-2021-25741).
Result<Fd> OpenSubPath(const std::string& volume, const std::string& sub_path);

}  // namespace cox::kubelet
