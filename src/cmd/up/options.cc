// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/options.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "base/host_name.h"
#include "base/strings.h"
#include "object/validation/ip.h"

namespace cox::cmd {
namespace {

constexpr std::string_view kDefaultDataDir = "/var/lib/coxswain";
constexpr int kNodePrefix = 24;  // --node-cidr-mask-size

constexpr std::string_view kIntro =
    R"(Runs a complete Kubernetes cluster on this machine: etcd and containerd as child processes, everything else
in this process.

Usage:
  coxswain up [flags]

It runs until SIGTERM or SIGINT (Ctrl-C). Containers continue to run then, and the next `coxswain up` manages them
again. `coxswain down` stops them and removes everything that the cluster has created.

Examples:
  coxswain up                                         # as root; then: export KUBECONFIG=/var/lib/coxswain/admin.conf
  coxswain up --no-node --data-dir ~/cluster          # only the control plane, as any user
  coxswain up --data-dir /srv/c1 --secure-port 7443   # custom data directory and port
  coxswain up --registry-mirror docker.io=http://10.0.0.5:5000

Requirements: etcd; for the node also containerd, runc and CNI plugins. On Debian:
  apt install etcd-server containerd runc containernetworking-plugins
)";

constexpr FlagInfo kFlags[] = {
    {"Cluster", "data-dir", "dir", kDefaultDataDir, "Directory for the state of the cluster"},
    {"Cluster", "kubeconfig", "file", "",
     "File for the administrator's kubeconfig (default: admin.conf in --data-dir)"},
    {"Cluster", "service-cidr", "cidr", "10.96.0.0/16",
     "Address range of Services; the first address is for the API server, the tenth for the DNS "
     "server"},
    {"Cluster", "cluster-cidr", "cidr", "10.244.0.0/16", "Address range of Pods"},
    {"Cluster", "cluster-domain", "domain", "cluster.local", "DNS domain of the cluster"},
    {"Cluster", "secure-port", "port", "6443", "Port of the API server"},
    {"Cluster", "advertise-address", "ip", "",
     "Address of the API server for the rest of the cluster (default: --node-ip)"},

    {"Node", "no-node", "", "false", "Run only the control plane, no containers"},
    {"Node", "node-name", "name", "", "Name of the Node (default: the host's name)"},
    {"Node", "node-ip", "ip", "",
     "Address of the Node (default: the address with which this machine reaches others)"},
    {"Node", "registry-mirror", "strings", "",
     "Mirror of an image registry, NAME=URL: images of the registry NAME are requested from URL "
     "first, http or https"},

    {"External components", "etcd-servers", "strings", "",
     "URLs of an existing etcd cluster (default: an etcd is started)"},
    {"External components", "etcd-cafile", "file", "", "CA file for --etcd-servers"},
    {"External components", "etcd-certfile", "file", "",
     "Client certificate file for --etcd-servers"},
    {"External components", "etcd-keyfile", "file", "", "Key file for --etcd-certfile"},
    {"External components", "container-runtime-endpoint", "url", "",
     "Socket of an existing container runtime, unix:///path (default: a containerd is started)"},

    // Not 2379, which a system service of etcd may use.
    {"Ports", "etcd-port", "port", "12379",
     "Client port of the etcd that is started; the next port is for its peers"},
    {"Ports", "controller-manager-port", "port", "10257",
     "Port for health checks and metrics of the controllers"},
    {"Ports", "scheduler-port", "port", "10259",
     "Port for health checks and metrics of the scheduler"},
    {"Ports", "kubelet-port", "port", "10250",
     "Port of the kubelet, for logs, exec and port-forward"},
    {"Ports", "kubelet-healthz-port", "port", "10248", "Port for health checks of the kubelet"},
    {"Ports", "proxy-healthz-port", "port", "10256", "Port for health checks of the service proxy"},
    {"Ports", "proxy-metrics-port", "port", "10249", "Port for metrics of the service proxy"},
    {"Ports", "dns-metrics-port", "port", "9153", "Port for metrics of the DNS server"},

    {"Logging", "v", "level", "0",
     "Log verbosity: 0 for what operators of a cluster need, 2 for single steps, 4 and more for "
     "developers"},
    {"Logging", "log-file-max-size", "MiB", "100",
     "Size at which coxswain.log, etcd.log and containerd.log are rotated; 0 for no limit"},
    {"Logging", "log-file-max-files", "int", "3", "Number of old files of each log"},
};

Result<std::string> AddressFlag(const Flags& flags, std::string_view name) {
  const std::string text = flags.Get(name);
  const auto address = validation::ParseIpSloppy(text);
  if (!address) {
    return Status::BadRequest("--" + std::string(name) + "=" + text + ": want an IP address");
  }
  return address->ToString();
}

Status ReadPorts(const Flags& flags, UpOptions::Ports& ports) {
  const std::pair<std::string_view, uint16_t*> wanted[] = {
      {"secure-port", &ports.api},
      {"etcd-port", &ports.etcd},
      {"controller-manager-port", &ports.controller_manager},
      {"scheduler-port", &ports.scheduler},
      {"kubelet-port", &ports.kubelet},
      {"kubelet-healthz-port", &ports.kubelet_health},
      {"proxy-healthz-port", &ports.proxy_health},
      {"proxy-metrics-port", &ports.proxy_metrics},
      {"dns-metrics-port", &ports.dns_metrics},
  };
  for (const auto& [name, port] : wanted) {
    COX_ASSIGN_OR_RETURN(const int64_t value, flags.GetInt(name, 1, 65534));
    *port = static_cast<uint16_t>(value);
  }
  ports.etcd_peer = static_cast<uint16_t>(ports.etcd + 1);
  return {};
}

Status ReadNetworks(const Flags& flags, UpOptions& options) {
  options.service_cidr = flags.Get("service-cidr");
  options.cluster_cidr = flags.Get("cluster-cidr");
  Result<std::string> api = AddressIn(options.service_cidr, 1);
  Result<std::string> dns = AddressIn(options.service_cidr, 10);
  if (!api.ok() || !dns.ok()) return dns.status().WithContext("--service-cidr");
  options.api_service_ip = *std::move(api);
  options.dns_ip = *std::move(dns);
  const Result<std::string> first = AddressIn(options.cluster_cidr, 0);
  if (!first.ok()) return first.status().WithContext("--cluster-cidr");
  const auto cluster = validation::ParseCidrSloppy(options.cluster_cidr);
  if (cluster->prefix > kNodePrefix) {
    return Status::BadRequest("--cluster-cidr=" + options.cluster_cidr + ": want at least a /" +
                              std::to_string(kNodePrefix) + ", which one node gets");
  }
  options.first_pod_cidr = *first + "/" + std::to_string(kNodePrefix);
  options.cluster_domain = flags.Get("cluster-domain");
  return {};
}

Status ReadMirrors(const Flags& flags, UpOptions& options) {
  for (const std::string& text : flags.GetList("registry-mirror")) {
    const CutResult cut = Cut(text, '=');
    if (!cut.found || cut.before.empty() ||
        !(cut.after.starts_with("http://") || cut.after.starts_with("https://"))) {
      return Status::BadRequest("--registry-mirror=" + text +
                                ": want NAME=URL, such as docker.io=http://10.0.0.5:5000");
    }
    options.mirrors.emplace_back(cut.before, cut.after);
  }
  return {};
}

Status ReadNode(const Flags& flags, UpOptions& options) {
  options.node = !flags.GetBool("no-node");
  options.node_name = flags.Has("node-name") ? flags.Get("node-name") : LowerCaseHostName();
  if (flags.Has("node-ip")) {
    COX_ASSIGN_OR_RETURN(options.node_ip, AddressFlag(flags, "node-ip"));
  } else {
    COX_ASSIGN_OR_RETURN(options.node_ip, OwnAddress());
  }
  options.advertise_address = options.node_ip;
  if (flags.Has("advertise-address")) {
    COX_ASSIGN_OR_RETURN(options.advertise_address, AddressFlag(flags, "advertise-address"));
  }
  options.runtime_endpoint = flags.Get("container-runtime-endpoint");
  return {};
}

}  // namespace

std::span<const FlagInfo> UpFlags() { return kFlags; }
std::string_view UpIntro() { return kIntro; }

std::string UpPaths::bridge() const {
  if (data == kDefaultDataDir) return "cox0";
  uint32_t hash = 2166136261;  // FNV-1a: must never change
  for (const char c : data.string()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  char name[IFNAMSIZ];
  std::snprintf(name, sizeof name, "cox%08x", hash);
  return name;
}

std::filesystem::path DataDirFrom(const Flags& flags) {
  std::error_code error;
  const std::filesystem::path said = std::filesystem::absolute(flags.Get("data-dir"), error);
  std::filesystem::path path = std::filesystem::weakly_canonical(said, error);
  if (error) path = said.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

Result<UpOptions> UpOptionsFrom(const Flags& flags) {
  UpOptions options;
  options.paths.data = DataDirFrom(flags);
  // The kernel limits the path of a Unix socket to 107 bytes.
  if (options.paths.containerd_socket().string().size() > 100) {
    return Status::BadRequest("--data-dir=" + flags.Get("data-dir") + ": want a shorter path");
  }
  options.kubeconfig = flags.Has("kubeconfig") ? std::filesystem::path(flags.Get("kubeconfig"))
                                               : options.paths.data / "admin.conf";
  options.etcd_servers = flags.GetList("etcd-servers");
  options.etcd_ca_file = flags.Get("etcd-cafile");
  options.etcd_certificate_file = flags.Get("etcd-certfile");
  options.etcd_key_file = flags.Get("etcd-keyfile");
  COX_RETURN_IF_ERROR(ReadPorts(flags, options.ports));
  COX_RETURN_IF_ERROR(ReadNetworks(flags, options));
  COX_RETURN_IF_ERROR(ReadMirrors(flags, options));
  COX_RETURN_IF_ERROR(ReadNode(flags, options));
  COX_ASSIGN_OR_RETURN(const int64_t level, flags.GetInt("v", 0, 10));
  options.verbosity = static_cast<int>(level);
  COX_ASSIGN_OR_RETURN(const int64_t size, flags.GetInt("log-file-max-size", 0, 1 << 20));
  options.log_limits.max_bytes = static_cast<uint64_t>(size) << 20;
  COX_ASSIGN_OR_RETURN(const int64_t files, flags.GetInt("log-file-max-files", 0, 1000));
  options.log_limits.max_files = static_cast<int>(files);
  return options;
}

Result<std::string> AddressIn(std::string_view cidr, uint32_t index) {
  const auto parsed = validation::ParseCidrSloppy(cidr);
  if (!parsed) return Status::BadRequest(std::string(cidr) + ": want a CIDR such as 10.96.0.0/16");
  validation::IpAddress address = parsed->Network();
  const int host_bits = (address.written_as_ipv6 ? 128 : 32) - parsed->prefix;
  if (host_bits < 32 && index >= (uint64_t{1} << host_bits)) {
    return Status::BadRequest(std::string(cidr) + " is too small");
  }
  uint64_t carry = index;
  for (size_t i = 16; i-- > 0 && carry != 0; carry >>= 8) {
    carry += address.bytes[i];
    address.bytes[i] = static_cast<uint8_t>(carry & 0xff);
  }
  return address.ToString();
}

Result<std::string> OwnAddress() {
  // Connecting a UDP socket selects the source address; nothing is sent.
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(53);
  ::inet_pton(AF_INET, "198.51.100.1", &peer.sin_addr);  // TEST-NET-2, reserved for documentation
  sockaddr_in own{};
  socklen_t size = sizeof own;
  const bool found = ::connect(fd, reinterpret_cast<sockaddr*>(&peer), sizeof peer) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  ::close(fd);
  char text[INET_ADDRSTRLEN] = "";
  if (found) return std::string(::inet_ntop(AF_INET, &own.sin_addr, text, sizeof text));
  // No default route: any address that is not loopback.
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) == 0) {
    for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
      if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
      if ((at->ifa_flags & IFF_LOOPBACK) != 0 || (at->ifa_flags & IFF_UP) == 0) continue;
      std::memcpy(&own, at->ifa_addr, sizeof own);
      ::inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
      break;
    }
    ::freeifaddrs(all);
  }
  if (text[0] != '\0') return std::string(text);
  return Status::NotFound("this machine has no address but loopback: say which with --node-ip");
}

}  // namespace cox::cmd
