// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubelet/volumes/files/file_error.h"

// Files of Pods, touched by a program that runs as root while containers may change them at the
// same time: no name is looked up twice, no link is followed that a container could have made.
namespace cox::kubelet {

// Makes `path` and what is missing above it. Of those that were there, the mode stays.
Status MakeDirectories(const std::string& path, mode_t mode);

// The names in a directory, sorted; none if it is not there.
Result<std::vector<std::string>> ListDirectory(const std::string& path);

// Whether something is mounted at `path` itself. False if it is not there. Links are not followed.
Result<bool> IsMountPoint(const std::string& path);

// Removes `path` and all below it. Links are removed, never followed; a mount below it is an error,
// with nothing behind it touched: unmount it first. OK if it is not there.
Status RemoveTree(const std::string& path);

// Gives the group to everything below `path`, as fsGroup wants it: readable (and, unless
// `read_only`, writable) for it; what is made later in its directories is the group's too. Links
// are not followed.
Status SetGroup(const std::string& path, gid_t group, bool read_only);

// Writes a whole file: never seen half, never through a link at its name.
Status WriteWhole(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace cox::kubelet
