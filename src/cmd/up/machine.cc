// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/machine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/program.h"
#include "cmd/up/children.h"

namespace cox::cmd {
namespace {

struct WantedPort {
  std::string_view flag;
  uint16_t port;
  bool on_all_addresses;
};

Status CheckPort(const WantedPort& wanted) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(wanted.port);
  address.sin_addr.s_addr = htonl(wanted.on_all_addresses ? INADDR_ANY : INADDR_LOOPBACK);
  const bool free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                    ::listen(fd, 1) == 0;
  const int error = errno;
  ::close(fd);
  if (free) return {};
  const std::string port = std::to_string(wanted.port);
  if (error == EACCES) return Status::Forbidden("port " + port + " is for root alone");
  return Status::Conflict("port " + port +
                          " is in use: end what listens there (ss -ltnp 'sport = :" + port +
                          "'), or choose another with --" + std::string(wanted.flag));
}

Status CheckPorts(const UpOptions& options) {
  const UpOptions::Ports& ports = options.ports;
  std::vector<WantedPort> wanted = {
      {"secure-port", ports.api, true},
      {"controller-manager-port", ports.controller_manager, false},
      {"scheduler-port", ports.scheduler, false},
  };
  // A running etcd of this cluster is adopted.
  if (options.etcd_servers.empty() && !FindProcess("etcd", EtcdMark(options.paths))) {
    wanted.push_back({"etcd-port", ports.etcd, false});
    wanted.push_back({"etcd-port", ports.etcd_peer, false});
  }
  if (options.node) {
    wanted.push_back({"kubelet-port", ports.kubelet, true});
    wanted.push_back({"kubelet-healthz-port", ports.kubelet_health, false});
    wanted.push_back({"proxy-healthz-port", ports.proxy_health, true});
    wanted.push_back({"proxy-metrics-port", ports.proxy_metrics, false});
    wanted.push_back({"dns-metrics-port", ports.dns_metrics, false});
  }
  for (const WantedPort& port : wanted) COX_RETURN_IF_ERROR(CheckPort(port));
  return {};
}

Status InUse(const UpPaths& paths, const Process& holder) {
  return Status::Conflict("a cluster runs in " + paths.data.string() + " (process " +
                          std::to_string(holder.pid) +
                          "): end it, or choose another folder with --data-dir");
}

// Removes cgroups from the deepest upwards; those with processes are kept.
void RemoveGroups(const std::filesystem::path& top) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(top, error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) RemoveGroups(entry.path());
  }
  ::rmdir(top.c_str());
}

// Decodes a path of /proc/self/mounts, where spaces and similar characters are octal escapes.
std::string Unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned code = 0;
    const char* const digits = text.data() + 1;
    if (text.size() > 3 && text[0] == '\\' &&
        std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      out.push_back(static_cast<char>(code));
      text.remove_prefix(4);
    } else {
      out.push_back(text[0]);
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

Status CheckMachine(const UpOptions& options) {
  if (options.node && ::geteuid() != 0) {
    return Status::Forbidden(
        "containers need root: run this with sudo, or with --no-node for the control plane alone");
  }
  std::error_code error;
  std::filesystem::create_directories(options.paths.data, error);
  if (::access(options.paths.data.c_str(), W_OK | X_OK) != 0) {
    return Status::Forbidden("cannot write to " + options.paths.data.string() +
                             ": run this with sudo, or choose another folder with --data-dir");
  }
  if (const auto holder = DataLock::Holder(options.paths)) return InUse(options.paths, *holder);
  COX_RETURN_IF_ERROR(CheckPorts(options));
  return CheckPrograms(options);
}

Status FilterBridged(const Context& ctx) {
  const std::string folder = "/proc/sys/net/bridge/";
  const std::string modprobe = FindProgram("modprobe");
  if (::access((folder + "bridge-nf-call-iptables").c_str(), F_OK) != 0 && !modprobe.empty()) {
    // The result is checked below.
    (void)RunProgram(ctx, {.arguments = {modprobe, "br_netfilter"}, .environment = {}});
  }
  for (const char* name : {"bridge-nf-call-iptables", "bridge-nf-call-ip6tables"}) {
    std::string now;
    std::ifstream(folder + name) >> now;
    if (now == "1") continue;
    std::ofstream file(folder + name);
    file << "1\n" << std::flush;
    if (!file) {
      return Status::Unavailable(
          "Pods of one node may not reach each other by Services: cannot set " + folder + name +
          " (is there a kernel module br_netfilter?)");
    }
  }
  return {};
}

DataLock::~DataLock() { ::close(fd_); }

Result<std::unique_ptr<DataLock>> DataLock::Take(const UpPaths& paths) {
  const int fd = ::open(paths.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Status::Internal("cannot open " + paths.lock().string() + ": " + std::strerror(errno));
  }
  auto lock = std::make_unique<DataLock>(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return InUse(paths, Holder(paths).value_or(Process()));
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 || ::write(fd, pid.data(), pid.size()) < 0) {
    return Status::Internal("cannot write " + paths.lock().string());
  }
  return lock;
}

std::optional<Process> DataLock::Holder(const UpPaths& paths) {
  const int fd = ::open(paths.lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::optional<Process> holder;
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0) {
    char text[32] = "";
    const ssize_t size = ::read(fd, text, sizeof text - 1);
    pid_t pid = -1;
    if (size > 0) std::from_chars(text, text + size, pid);
    holder = ProcessOf(pid);
  }
  ::close(fd);
  return holder;
}

Status UnmountBelow(const std::filesystem::path& dir) {
  std::vector<std::string> points;
  std::ifstream mounts("/proc/self/mounts");
  std::string device, point, rest;
  while (mounts >> device >> point && std::getline(mounts, rest)) {
    point = Unescaped(point);
    if (point.starts_with(dir.string() + "/")) points.push_back(point);
  }
  for (auto at = points.rbegin(); at != points.rend(); ++at) {
    if (::umount2(at->c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0 || errno == EINVAL) continue;
    return Status::Internal("cannot unmount " + *at + ": " + std::strerror(errno));
  }
  return {};
}

void RemovePodGroups(const std::string& root) {
  const std::filesystem::path mount = "/sys/fs/cgroup";
  // Without a cgroup root of its own, those of all Pods; the name depends on the cgroup driver.
  const std::string top = root == "/" ? "kubepods" : root.substr(1);
  std::error_code error;
  std::vector<std::filesystem::path> hierarchies = {mount};
  for (const auto& entry : std::filesystem::directory_iterator(mount, error)) {
    // With cgroup v1, each controller has its own hierarchy.
    if (entry.is_directory(error) && !entry.is_symlink(error)) hierarchies.push_back(entry.path());
  }
  for (const std::filesystem::path& hierarchy : hierarchies) {
    for (const std::string& name : {top, top + ".slice"}) {
      if (std::filesystem::exists(hierarchy / name, error)) RemoveGroups(hierarchy / name);
    }
  }
}

Status RemoveLink(const std::string& name) {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0) return {};
  struct {
    nlmsghdr head;
    ifinfomsg link;
  } request{};
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = RTM_DELLINK;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.link.ifi_index = static_cast<int>(index);
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  struct {
    nlmsghdr head;
    nlmsgerr error;
    char rest[256];
  } answer{};
  const bool asked = fd >= 0 && ::send(fd, &request, sizeof request, 0) > 0 &&
                     ::recv(fd, &answer, sizeof answer, 0) > 0;
  ::close(fd);
  if (asked && answer.error.error == 0) return {};
  return Status::Internal("cannot remove the network link " + name + ": " +
                          std::strerror(asked ? -answer.error.error : errno));
}

}  // namespace cox::cmd
