// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "tests/proxy/namespaces.h"

namespace cox::proxy {

inline socklen_t MakeSockaddr(const std::string& ip, uint16_t port, sockaddr_storage* out) {
  *out = {};
  if (ip.find(':') == std::string::npos) {
    auto* in = reinterpret_cast<sockaddr_in*>(out);
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    inet_pton(AF_INET, ip.c_str(), &in->sin_addr);
    return sizeof *in;
  }
  auto* in = reinterpret_cast<sockaddr_in6*>(out);
  in->sin6_family = AF_INET6;
  in->sin6_port = htons(port);
  inet_pton(AF_INET6, ip.c_str(), &in->sin6_addr);
  return sizeof *in;
}

// Sends each client the server's name and the client's address: "pod0 192.168.7.2".
class NameServer {
 public:
  NameServer(const Namespace& where, std::string name, const std::string& ip, uint16_t port)
      : name_(std::move(name)) {
    where.Do([&] {
      sockaddr_storage address;
      const socklen_t size = MakeSockaddr(ip, port, &address);
      listen_ = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const int on = 1;
      setsockopt(listen_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      ok_ = bind(listen_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
            listen(listen_, 100) == 0;
    });
    thread_ = std::thread([this] { Serve(); });
  }
  ~NameServer() {
    shutdown(listen_, SHUT_RDWR);
    thread_.join();
    close(listen_);
  }
  bool ok() const { return ok_; }

 private:
  void Serve() {
    for (;;) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      const int fd = accept(listen_, reinterpret_cast<sockaddr*>(&peer), &size);
      if (fd < 0) return;
      char text[INET6_ADDRSTRLEN] = "";
      if (peer.ss_family == AF_INET) {
        inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&peer)->sin_addr, text, sizeof text);
      } else {
        inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6*>(&peer)->sin6_addr, text, sizeof text);
      }
      const std::string answer = name_ + " " + text;
      (void)!send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      close(fd);
    }
  }

  const std::string name_;
  int listen_ = -1;
  bool ok_ = false;
  std::thread thread_;
};

// The same with UDP: every datagram is answered with the name.
class DatagramServer {
 public:
  DatagramServer(const Namespace& where, std::string name, const std::string& ip, uint16_t port)
      : name_(std::move(name)) {
    where.Do([&] {
      sockaddr_storage address;
      const socklen_t size = MakeSockaddr(ip, port, &address);
      socket_ = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      ok_ = bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0;
    });
    thread_ = std::thread([this] { Serve(); });
  }
  ~DatagramServer() {
    stop_ = true;
    shutdown(socket_, SHUT_RDWR);  // wakes the reader, although the socket is not connected
    thread_.join();
    close(socket_);
  }
  bool ok() const { return ok_; }

 private:
  void Serve() {
    while (!stop_) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      char buffer[64];
      auto* from = reinterpret_cast<sockaddr*>(&peer);
      if (recvfrom(socket_, buffer, sizeof buffer, 0, from, &size) <= 0) continue;
      (void)!sendto(socket_, name_.data(), name_.size(), MSG_NOSIGNAL, from, size);
    }
  }

  const std::string name_;
  int socket_ = -1;
  bool ok_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// A UDP client with a fixed port, so that all its datagrams are one flow.
class DatagramClient {
 public:
  DatagramClient(const Namespace& where, const std::string& ip, uint16_t port) {
    where.Do([&] {
      sockaddr_storage address;
      const socklen_t size = MakeSockaddr(ip, port, &address);
      socket_ = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      (void)!connect(socket_, reinterpret_cast<sockaddr*>(&address), size);
    });
  }
  ~DatagramClient() { close(socket_); }

  // Returns the answer, "timeout" or "refused".
  std::string Ask(int timeout_milliseconds = 5000, std::string_view message = "?") const {
    (void)!send(socket_, message.data(), message.size(), MSG_NOSIGNAL);
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, timeout_milliseconds) == 0) return "timeout";
    char buffer[512];
    const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
    if (got < 0) return errno == ECONNREFUSED ? "refused" : std::strerror(errno);
    return {buffer, static_cast<size_t>(got)};
  }

 private:
  int socket_ = -1;
};

// A node with Pods and a client outside of the cluster, each in its own network namespace: Pods
// from 10.244.0.2, the node 192.168.7.1, the client 192.168.7.2; with the same last parts in
// fd00:244:: and fd00:7::.
class ClusterNet {
 public:
  static constexpr int kPods = 3;

  // Returns OK, or the reason why the network cannot be created.
  Status Start() {
    if (geteuid() != 0) return Status::Forbidden("network namespaces need root");
    if (!node.ok()) return Status::Unavailable("this system lets nobody make network namespaces");
    COX_RETURN_IF_ERROR(node.Run("ip link set lo up"));
    node.Do([] {
      Set("/proc/sys/net/ipv4/ip_forward", "1");
      Set("/proc/sys/net/ipv6/conf/all/forwarding", "1");
    });
    for (int i = 0; i < kPods; ++i) {
      COX_RETURN_IF_ERROR(
          Connect(pods[i], "pod" + std::to_string(i), "10.244.0.", "fd00:244::", i + 2));
    }
    COX_RETURN_IF_ERROR(Connect(client, "out", "192.168.7.", "fd00:7::", 2));
    // Nodes have a default route; without it, packets to unknown addresses do not reach the rules.
    COX_RETURN_IF_ERROR(node.Run("ip link add uplink type veth peer name nowhere"));
    COX_RETURN_IF_ERROR(node.Run("ip link set nowhere up"));
    COX_RETURN_IF_ERROR(node.Run("ip link set uplink up"));
    COX_RETURN_IF_ERROR(node.Run("ip route add default dev uplink"));
    COX_RETURN_IF_ERROR(node.Run("ip -6 route add default dev uplink"));
    for (const Namespace& pod : pods) AwaitCarries(pod, {"10.244.0.1", "fd00:244::1"});
    AwaitCarries(client, {"192.168.7.1", "fd00:7::1"});
    return {};
  }

  Namespace node;
  Namespace pods[kPods];
  Namespace client;

 private:
  static void Set(const char* path, const char* value) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)!write(fd, value, 1);
    close(fd);
  }

  // The kernel completes the setup in the background: until then, a link carries no datagrams and a
  // node does not answer neighbour solicitations. Datagrams are lost and not retransmitted.
  void AwaitCarries(const Namespace& peer, const std::vector<std::string>& addresses) const {
    constexpr uint16_t kDiscard = 9;
    for (const std::string& address : addresses) {
      const DatagramServer server(node, "node", address, kDiscard);
      const DatagramClient client(peer, address, kDiscard);
      int tries = 300;
      while (client.Ask(100) == "timeout" && --tries > 0) {
      }
      EXPECT_GT(tries, 0) << "nothing comes back from " << address;
    }
  }

  Status Connect(const Namespace& peer, const std::string& name, const std::string& net4,
                 const std::string& net6, int number) {
    const std::string own = std::to_string(number);
    // Disables duplicate address detection, which would delay the use of IPv6 addresses.
    for (const Namespace* where : std::initializer_list<const Namespace*>{&node, &peer}) {
      where->Do([] { Set("/proc/sys/net/ipv6/conf/default/accept_dad", "0"); });
    }
    COX_RETURN_IF_ERROR(
        node.Run("ip link add " + name + " type veth peer name eth0 netns " + peer.path()));
    for (const char* line : {"ip link set lo up", "ip link set eth0 up"}) {
      COX_RETURN_IF_ERROR(peer.Run(line));
    }
    for (const std::string& net : {net4, net6}) {
      const bool v6 = net == net6;
      const std::string ip = v6 ? "ip -6 " : "ip ";
      const std::string bits = v6 ? "/128" : "/32";
      const std::string flags = v6 ? " nodad" : "";
      COX_RETURN_IF_ERROR(node.Run(ip + "addr add " + net + "1" + bits + " dev " + name + flags));
      if (!v6) COX_RETURN_IF_ERROR(node.Run("ip link set " + name + " up"));
      COX_RETURN_IF_ERROR(node.Run(ip + "route add " + net + own + bits + " dev " + name));
      COX_RETURN_IF_ERROR(peer.Run(ip + "addr add " + net + own + bits + " dev eth0" + flags));
      COX_RETURN_IF_ERROR(peer.Run(ip + "route add " + net + "1" + bits + " dev eth0"));
      COX_RETURN_IF_ERROR(peer.Run(ip + "route add default via " + net + "1 dev eth0"));
    }
    return {};
  }
};

// Connects from `where` and returns the server's text, "refused", "timeout", or the error.
inline std::string Ask(const Namespace& where, const std::string& ip, uint16_t port,
                       int timeout_milliseconds = 5000) {
  int fd = -1;
  where.Do([&] {
    fd = socket(ip.find(':') == std::string::npos ? AF_INET : AF_INET6,
                SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  });
  sockaddr_storage address;
  const socklen_t size = MakeSockaddr(ip, port, &address);
  std::string out;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 && errno != EINPROGRESS) {
    out = errno == ECONNREFUSED ? "refused" : std::strerror(errno);
  }
  // An ICMP error that arrives during connect() is lost. It is sent again for the second SYN, a
  // second later; until then there is nothing to read.
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  while (out.empty()) {
    if (poll(&ready, 1, timeout_milliseconds) == 0) {
      out = "timeout";
      break;
    }
    char buffer[256];
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EAGAIN) continue;
    if (got < 0) out = errno == ECONNREFUSED ? "refused" : std::strerror(errno);
    if (got >= 0) out = got == 0 ? "nothing" : std::string(buffer, static_cast<size_t>(got));
  }
  close(fd);
  return out;
}

}  // namespace cox::proxy
