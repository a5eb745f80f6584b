// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What this computer is and has, as the kernel tells it.
namespace cox::kubelet {

struct HugePages {
  int64_t size_bytes = 0;
  int64_t count = 0;

  bool operator==(const HugePages&) const = default;
};

// What does not change while the computer runs (huge pages may).
struct Machine {
  std::string machine_id;
  std::string system_uuid;
  std::string boot_id;
  std::string kernel;        // "6.1.0-18-amd64"
  std::string os_image;      // "Debian GNU/Linux 12 (bookworm)"
  std::string architecture;  // as Go names it: "amd64"
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
  int64_t swap_bytes = 0;
  std::vector<HugePages> huge_pages;
};

// `root` stands before /proc, /sys and /etc: a test's folder. What a computer need not have (a
// machine id, huge pages) is empty; NotFound if it does not tell its processors or memory.
Result<Machine> ReadMachine(const std::string& root = {});

struct Filesystem {
  int64_t capacity_bytes = 0;
  int64_t available_bytes = 0;  // for those who are not root
  int64_t inodes = 0;
  int64_t inodes_free = 0;
};
// Of the file system that `path`, or the nearest folder above it that exists, is on.
Result<Filesystem> ReadFilesystem(const std::string& path);

// What is left of what all processes share.
struct Slack {
  int64_t memory_available_bytes = 0;
  int64_t memory_bytes = 0;
  int64_t pids = 0;  // processes and threads that there are
  int64_t max_pids = 0;
};
Result<Slack> ReadSlack(const std::string& root = {});

// The value of a line such as "MemTotal:  123 kB" in bytes; -1 if there is none.
int64_t MemInfoBytes(std::string_view meminfo, std::string_view name);
// How many a list such as "0-3,8" names.
int64_t CountCpus(std::string_view list);
// PRETTY_NAME of an os-release file.
std::string OsImage(std::string_view os_release);

// The addresses by which others reach this computer: one of the interface that the default route
// leaves by, else of any interface, else the loopback's. Nothing is sent.
std::string DefaultAddress();

}  // namespace cox::kubelet
