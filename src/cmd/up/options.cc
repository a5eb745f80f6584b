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

#include "base/strings.h"
#include "object/validation/ip.h"

namespace cox::cmd {
namespace {

constexpr std::string_view kDefaultDataDir = "/var/lib/coxswain";
constexpr int kNodePrefix = 24;  // --node-cidr-mask-size

constexpr std::string_view kIntro =
    R"(A whole Kubernetes cluster on this machine, from one command: etcd and containerd as children,
everything else in this process.

Usage:
  coxswain up [flags]

It runs until SIGTERM or SIGINT (Ctrl-C). Containers run on meanwhile; the next `coxswain up` takes them over.
`coxswain down` ends them, and takes away all that the cluster has made.

Examples:
  coxswain up                                         # as root; then: export KUBECONFIG=/var/lib/coxswain/admin.conf
  coxswain up --no-node --data-dir ~/cluster          # the control plane alone, as any user
  coxswain up --data-dir /srv/c1 --secure-port 7443   # where and how else
  coxswain up --registry-mirror docker.io=http://10.0.0.5:5000

It needs, installed: etcd; and for the node containerd, runc, CNI plugins. On Debian:
  apt install etcd-server containerd runc containernetworking-plugins
)";

constexpr FlagInfo kFlags[] = {
    {"Cluster", "data-dir", "dir", kDefaultDataDir, "where everything is kept"},
    {"Cluster", "kubeconfig", "file", "",
     "where the administrator's kubeconfig is written; else "
     "admin.conf in --data-dir"},
    {"Cluster", "service-cidr", "cidr", "10.96.0.0/16",
     "addresses of Services; the first is the API's, the tenth the DNS server's"},
    {"Cluster", "cluster-cidr", "cidr", "10.244.0.0/16", "addresses of Pods"},
    {"Cluster", "cluster-domain", "domain", "cluster.local", "what names of Services end in"},
    {"Cluster", "secure-port", "port", "6443", "where the API server listens"},
    {"Cluster", "advertise-address", "ip", "",
     "address of the API server for the rest of the cluster; else --node-ip"},

    {"Node", "no-node", "", "false", "control plane only: no containers run here"},
    {"Node", "node-name", "name", "", "else the host's name"},
    {"Node", "node-ip", "ip", "", "else the address by which this machine reaches others"},
    {"Node", "registry-mirror", "strings", "",
     "NAME=URL: images of the registry NAME are asked for at URL first, http or https"},

    {"Parts that are there already", "etcd-servers", "strings", "",
     "an etcd cluster to use; else one is started"},
    {"Parts that are there already", "etcd-cafile", "file", "", "CA of --etcd-servers"},
    {"Parts that are there already", "etcd-certfile", "file", "",
     "client certificate for --etcd-servers"},
    {"Parts that are there already", "etcd-keyfile", "file", "", "key of --etcd-certfile"},
    {"Parts that are there already", "container-runtime-endpoint", "url", "",
     "a runtime to use, unix:///path; else containerd is started"},

    // Not 2379: where etcd is installed, a service of the system may have that.
    {"Ports", "etcd-port", "port", "12379",
     "of the etcd that is started; the next is for its peers"},
    {"Ports", "controller-manager-port", "port", "10257", "probes and metrics of the controllers"},
    {"Ports", "scheduler-port", "port", "10259", "probes and metrics of the scheduler"},
    {"Ports", "kubelet-port", "port", "10250", "logs, exec and port-forward, for the API server"},
    {"Ports", "kubelet-healthz-port", "port", "10248", "probes of the node agent"},
    {"Ports", "proxy-healthz-port", "port", "10256", "probes of the proxy"},
    {"Ports", "proxy-metrics-port", "port", "10249", "metrics of the proxy"},
    {"Ports", "dns-metrics-port", "port", "9153", "metrics of the DNS server"},

    {"Logging", "v", "level", "0",
     "how much to log: 0 what operators of a cluster need, 2 steps, 4 and more for developers"},
};

std::string HostName() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  std::string text = name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

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
  options.node_name = flags.Has("node-name") ? flags.Get("node-name") : HostName();
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
  uint32_t hash = 2166136261;  // FNV-1a: the same for ever
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
  // Of a Unix socket's path the kernel takes 107 bytes.
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
  // The kernel says which address it would send from; nothing is sent.
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(53);
  ::inet_pton(AF_INET, "198.51.100.1", &peer.sin_addr);  // of nobody: for documentation
  sockaddr_in own{};
  socklen_t size = sizeof own;
  const bool found = ::connect(fd, reinterpret_cast<sockaddr*>(&peer), sizeof peer) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  ::close(fd);
  char text[INET_ADDRSTRLEN] = "";
  if (found) return std::string(::inet_ntop(AF_INET, &own.sin_addr, text, sizeof text));
  // No route to elsewhere: any address that is not loopback.
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
