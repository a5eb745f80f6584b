// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Hardware and operating system of this machine, read from the kernel.
namespace cox::kubelet {

struct HugePages {
  int64_t size_bytes = 0;
  int64_t count = 0;

  bool operator==(const HugePages&) const = default;
};

// Properties that are constant while the machine runs (except huge pages).
struct Machine {
  std::string machine_id;
  std::string system_uuid;
  std::string boot_id;
  std::string kernel;        // "6.1.0-18-amd64"
  std::string os_image;      // "Debian GNU/Linux 12 (bookworm)"
  std::string architecture;  // GOARCH: "amd64"
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
  int64_t swap_bytes = 0;
  std::vector<HugePages> huge_pages;
};

// `root` is a prefix of /proc, /sys and /etc, for tests. Optional values (machine id, huge pages)
// may be empty; NotFound if the processors or the memory cannot be read.
Result<Machine> ReadMachine(const std::string& root = {});

struct Filesystem {
  int64_t capacity_bytes = 0;
  int64_t available_bytes = 0;  // for non-root users
  int64_t inodes = 0;
  int64_t inodes_free = 0;
};
// Statistics of the file system of `path`, or of its nearest existing parent directory.
Result<Filesystem> ReadFilesystem(const std::string& path);

// Available memory and process ids.
struct AvailableResources {
  int64_t memory_available_bytes = 0;
  int64_t memory_bytes = 0;
  int64_t pids = 0;  // existing processes and threads
  int64_t max_pids = 0;
};
Result<AvailableResources> ReadAvailableResources(const std::string& root = {});

// The value of a line such as "MemTotal:  123 kB" in bytes; -1 if it is missing.
int64_t MemInfoBytes(std::string_view meminfo, std::string_view name);
// The number of CPUs in a list such as "0-3,8".
int64_t CountCpus(std::string_view list);
// PRETTY_NAME of an os-release file.
std::string OsImage(std::string_view os_release);

// The address of this machine: one of the default route's interface, else of any interface, else
// the loopback address. Sends no packets.
std::string DefaultAddress();

}  // namespace cox::kubelet
