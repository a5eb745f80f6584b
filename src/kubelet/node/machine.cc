// SPDX-License-Identifier: Apache-2.0
#include "kubelet/node/machine.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file_watch.h"
#include "base/strings.h"

namespace cox::kubelet {
namespace {

namespace fs = std::filesystem;

int64_t Number(std::string_view text, int64_t fallback = -1) {
  text = TrimSpace(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? value : fallback;
}

// The file's content without surrounding whitespace; empty if it cannot be read.
std::string Line(const std::string& path) {
  const Result<std::string> text = ReadBoundedFile(path);
  return text.ok() ? std::string(TrimSpace(*text)) : std::string();
}

std::string Architecture() {
  utsname names{};
  if (uname(&names) != 0) return {};
  const std::string_view machine = names.machine;
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  if (machine == "i686" || machine == "i386") return "386";
  if (machine.starts_with("armv")) return "arm";
  return std::string(machine);  // ppc64le, riscv64, s390x are equal to GOARCH
}

std::vector<HugePages> ReadHugePages(const std::string& root) {
  constexpr std::string_view kPrefix = "hugepages-";
  std::vector<HugePages> pages;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/sys/kernel/mm/hugepages", error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const int64_t kib = Number(std::string_view(name).substr(kPrefix.size()), 0);
    if (kib <= 0) continue;
    pages.push_back(
        {kib * 1024, std::max<int64_t>(Number(Line(entry.path() / "nr_hugepages"), 0), 0)});
  }
  std::sort(pages.begin(), pages.end(),
            [](const HugePages& a, const HugePages& b) { return a.size_bytes < b.size_bytes; });
  return pages;
}

std::string TextOf(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* from =
      address->sa_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
          : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  return inet_ntop(address->sa_family, from, text, sizeof(text)) == nullptr ? std::string() : text;
}

// The source address of packets to `far`. Connecting a datagram socket only does a route lookup.
std::string RouteAddress(int family, const char* far) {
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  sockaddr_storage to{};
  socklen_t size = sizeof(sockaddr_in);
  if (family == AF_INET) {
    auto* in = reinterpret_cast<sockaddr_in*>(&to);
    in->sin_family = AF_INET;
    in->sin_port = htons(9);
    inet_pton(AF_INET, far, &in->sin_addr);
  } else {
    auto* in = reinterpret_cast<sockaddr_in6*>(&to);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(9);
    inet_pton(AF_INET6, far, &in->sin6_addr);
    size = sizeof(sockaddr_in6);
  }
  std::string found;
  sockaddr_storage own{};
  socklen_t own_size = sizeof(own);
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), size) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) == 0) {
    found = TextOf(reinterpret_cast<sockaddr*>(&own));
  }
  close(fd);
  return found;
}

}  // namespace

int64_t MemInfoBytes(std::string_view meminfo, std::string_view name) {
  for (const std::string_view line : Split(meminfo, '\n')) {
    const CutResult cut = Cut(line, ':');
    if (!cut.found || cut.before != name) continue;
    const int64_t kib = Number(cut.after);
    return kib < 0 ? -1 : kib * 1024;
  }
  return -1;
}

int64_t CountCpus(std::string_view list) {
  int64_t count = 0;
  for (const std::string_view part : Split(TrimSpace(list), ',')) {
    const CutResult range = Cut(part, '-');
    const int64_t first = Number(range.before);
    const int64_t last = range.found ? Number(range.after) : first;
    if (first >= 0 && last >= first) count += last - first + 1;
  }
  return count;
}

std::string OsImage(std::string_view os_release) {
  constexpr std::string_view kName = "PRETTY_NAME=";
  for (std::string_view line : Split(os_release, '\n')) {
    line = TrimSpace(line);
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());
    if (line.size() >= 2 && (line.front() == '"' || line.front() == '\'')) {
      line = line.substr(1, line.size() - 2);
    }
    return std::string(line);
  }
  return {};
}

Result<Machine> ReadMachine(const std::string& root) {
  Machine machine;
  machine.machine_id = Line(root + "/etc/machine-id");
  if (machine.machine_id.empty()) machine.machine_id = Line(root + "/var/lib/dbus/machine-id");
  machine.system_uuid = Line(root + "/sys/class/dmi/id/product_uuid");
  if (machine.system_uuid.empty()) machine.system_uuid = machine.machine_id;
  machine.boot_id = Line(root + "/proc/sys/kernel/random/boot_id");
  machine.kernel = Line(root + "/proc/sys/kernel/osrelease");
  machine.os_image = OsImage(Line(root + "/etc/os-release"));
  if (machine.os_image.empty()) machine.os_image = OsImage(Line(root + "/usr/lib/os-release"));
  if (machine.os_image.empty()) machine.os_image = "Unknown";
  machine.architecture = Architecture();
  COX_ASSIGN_OR_RETURN(const std::string cpus,
                       ReadBoundedFile(root + "/sys/devices/system/cpu/online"));
  machine.cpus = CountCpus(cpus);
  COX_ASSIGN_OR_RETURN(const std::string meminfo, ReadBoundedFile(root + "/proc/meminfo"));
  machine.memory_bytes = MemInfoBytes(meminfo, "MemTotal");
  machine.swap_bytes = std::max<int64_t>(MemInfoBytes(meminfo, "SwapTotal"), 0);
  if (machine.cpus < 1 || machine.memory_bytes < 1) {
    return Status::NotFound(
        "the kernel does not tell how many processors or how much memory there "
        "is: look at /proc/meminfo and /sys/devices/system/cpu/online");
  }
  machine.huge_pages = ReadHugePages(root);
  return machine;
}

Result<Filesystem> ReadFilesystem(const std::string& path) {
  fs::path at = path;
  std::error_code error;
  while (!fs::exists(at, error) && at.has_relative_path()) at = at.parent_path();
  struct statvfs found {};
  if (statvfs(at.c_str(), &found) != 0) {
    return Status::NotFound("cannot tell the file system of " + Quote(path));
  }
  const auto unit = static_cast<int64_t>(found.f_frsize);
  return Filesystem{.capacity_bytes = static_cast<int64_t>(found.f_blocks) * unit,
                    .available_bytes = static_cast<int64_t>(found.f_bavail) * unit,
                    .inodes = static_cast<int64_t>(found.f_files),
                    .inodes_free = static_cast<int64_t>(found.f_ffree)};
}

Result<AvailableResources> ReadAvailableResources(const std::string& root) {
  AvailableResources slack;
  COX_ASSIGN_OR_RETURN(const std::string meminfo, ReadBoundedFile(root + "/proc/meminfo"));
  slack.memory_bytes = MemInfoBytes(meminfo, "MemTotal");
  slack.memory_available_bytes = MemInfoBytes(meminfo, "MemAvailable");
  slack.max_pids = Number(Line(root + "/proc/sys/kernel/pid_max"), 0);
  // "0.20 0.18 0.12 1/80 11206": the number after the slash is the number of processes and threads.
  const std::string load = Line(root + "/proc/loadavg");
  slack.pids = Number(Cut(load, '/').after, 0);
  return slack;
}

std::string DefaultAddress() {
  // Addresses reserved for documentation (RFC 5737, RFC 3849).
  std::string found = RouteAddress(AF_INET, "192.0.2.1");
  if (found.empty()) found = RouteAddress(AF_INET6, "2001:db8::1");
  if (!found.empty() && found != "127.0.0.1" && found != "::1") return found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "127.0.0.1";
  found.clear();
  for (const ifaddrs* it = list; it != nullptr && found.empty(); it = it->ifa_next) {
    if (it->ifa_addr == nullptr || (it->ifa_flags & IFF_UP) == 0) continue;
    if ((it->ifa_flags & IFF_LOOPBACK) != 0 || it->ifa_addr->sa_family != AF_INET) continue;
    found = TextOf(it->ifa_addr);
  }
  freeifaddrs(list);
  return found.empty() ? "127.0.0.1" : found;
}

}  // namespace cox::kubelet
