// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubelet/volumes/files/file_error.h"

// File operations for Pods, executed as root while containers may change the files concurrently: no
// path is resolved twice, and no symlink that a container could have created is followed.
namespace cox::kubelet {

// Creates `path` and missing parents. Existing directories keep their mode.
Status MakeDirectories(const std::string& path, mode_t mode);

// The sorted names in a directory; none if it does not exist.
Result<std::vector<std::string>> ListDirectory(const std::string& path);

// Whether `path` is a mount point. False if it does not exist. Symlinks are not followed.
Result<bool> IsMountPoint(const std::string& path);

// Removes `path` recursively. Symlinks are removed, never followed; a mount below it is an error,
// and nothing in the mount is removed: unmount it first. OK if it does not exist.
Status RemoveTree(const std::string& path);

// Changes the group of everything below `path` for fsGroup: readable (and, unless `read_only`,
// writable) for the group; directories get the setgid bit, so that new files inherit it. Symlinks
// are not followed.
Status SetGroup(const std::string& path, gid_t group, bool read_only);

// Creates a file. Fails if `path` exists, so it never writes through a symlink.
Status WriteWhole(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace cox::kubelet
