// SPDX-License-Identifier: Apache-2.0
#include "dns/link/loopback.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <set>

#include "base/fd.h"
#include "base/strings.h"

namespace cox::dns {
namespace {

// Marks an address, as shown by `ip -d addr`; the kernel's own protocol numbers are small.
constexpr uint8_t kMark = 0xc0;
// IFA_PROTO, in the kernel's headers since 5.18. Older kernels ignore it, so the route metric of
// the address is a second mark; for a host address the metric has no effect.
constexpr uint16_t kProtocol = 11;
constexpr uint32_t kMetric = 0xc0c0;
constexpr std::chrono::seconds kRouteTime{5};

struct Ip {
  int family = AF_INET;
  std::string bytes;
  auto operator<=>(const Ip&) const = default;
};

Result<Ip> ParseIp(const std::string& text) {
  Ip ip;
  ip.family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
  char bytes[16];
  if (inet_pton(ip.family, text.c_str(), bytes) != 1) {
    return Status::BadRequest(Quote(text) + " is not an IP address");
  }
  ip.bytes.assign(bytes, ip.family == AF_INET ? 4 : 16);
  return ip;
}

Status Failed(int error, const std::string& what) {
  const std::string text = what + ": " + std::strerror(error);
  if (error == EPERM) return Status::Forbidden(text + "; run with CAP_NET_ADMIN");
  return Status::Unavailable(text);
}

class Socket {
 public:
  // `groups`: netlink multicast groups to join.
  explicit Socket(uint32_t groups = 0)
      : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = groups;
    if (groups != 0) (void)!bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  }

  // Sends one request about addresses and calls `use` for each address in the response. Returns 0
  // or the kernel's errno.
  using Use = std::function<void(const ifaddrmsg& head, std::string_view attributes)>;
  int Ask(uint16_t type, uint16_t flags, const ifaddrmsg& body, std::string_view attributes,
          const Use& use) const {
    if (!fd_.valid()) return EIO;
    struct {
      nlmsghdr head;
      ifaddrmsg body;
    } request{};
    request.head.nlmsg_len = static_cast<uint32_t>(sizeof request + attributes.size());
    request.head.nlmsg_type = type;
    request.head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
    request.body = body;
    std::string message(reinterpret_cast<const char*>(&request), sizeof request);
    message += attributes;
    if (send(fd_.get(), message.data(), message.size(), 0) < 0) return errno;
    for (;;) {
      if (const std::optional<int> end = Read(use)) return *end;
    }
  }

  // Calls `use` for the addresses in notifications; false if none arrives within `time`.
  bool ReadNotifications(std::chrono::milliseconds time, const Use& use) const {
    pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    return poll(&ready, 1, static_cast<int>(time.count())) > 0 && Read(use).value_or(0) == 0;
  }

 private:
  // Reads one datagram. Returns 0 or the kernel's errno at the end of a response; none if more
  // follows.
  std::optional<int> Read(const Use& use) const {
    std::string buffer(32 * 1024, '\0');
    const ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) return std::nullopt;
    if (got <= 0) return got < 0 ? errno : EIO;
    std::string_view left(buffer.data(), static_cast<size_t>(got));
    while (left.size() >= sizeof(nlmsghdr)) {
      nlmsghdr head;
      std::memcpy(&head, left.data(), sizeof head);
      if (head.nlmsg_len < sizeof head || head.nlmsg_len > left.size()) return EIO;
      const std::string_view body = left.substr(NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
      if (head.nlmsg_type == NLMSG_DONE) return 0;
      if (head.nlmsg_type == NLMSG_ERROR) {
        int error = -EIO;
        if (body.size() >= sizeof error) std::memcpy(&error, body.data(), sizeof error);
        return -error;
      }
      ifaddrmsg address{};
      if (body.size() >= sizeof address) {
        std::memcpy(&address, body.data(), sizeof address);
        use(address, body.substr(NLMSG_ALIGN(sizeof address)));
      }
      left.remove_prefix(std::min<size_t>(left.size(), NLMSG_ALIGN(head.nlmsg_len)));
    }
    return std::nullopt;
  }

  const Fd fd_;
};

void AddAttribute(uint16_t type, std::string_view value, std::string* out) {
  const uint16_t head[2] = {static_cast<uint16_t>(value.size() + 4), type};
  out->append(reinterpret_cast<const char*>(head), sizeof head);
  *out += value;
  out->append((4 - out->size() % 4) % 4, '\0');
}

// The value of the first attribute of that type; empty if it is missing.
std::string_view Find(std::string_view attributes, uint16_t wanted) {
  while (attributes.size() >= 4) {
    uint16_t head[2];
    std::memcpy(head, attributes.data(), sizeof head);
    if (head[0] < 4 || head[0] > attributes.size()) return {};
    if ((head[1] & NLA_TYPE_MASK) == wanted) return attributes.substr(4, head[0] - 4);
    attributes.remove_prefix(std::min<size_t>(attributes.size(), NLA_ALIGN(head[0])));
  }
  return {};
}

int Change(const Socket& socket, uint16_t type, uint16_t flags, const Ip& ip) {
  ifaddrmsg head{};
  head.ifa_family = static_cast<uint8_t>(ip.family);
  head.ifa_prefixlen = static_cast<uint8_t>(ip.bytes.size() * 8);
  // Duplicate address detection is useless, because the address is on no network.
  head.ifa_flags = ip.family == AF_INET6 ? IFA_F_NODAD : 0;
  head.ifa_index = if_nametoindex("lo");
  std::string attributes;
  AddAttribute(IFA_LOCAL, ip.bytes, &attributes);
  AddAttribute(IFA_ADDRESS, ip.bytes, &attributes);
  AddAttribute(kProtocol, {reinterpret_cast<const char*>(&kMark), 1}, &attributes);
  AddAttribute(IFA_RT_PRIORITY, {reinterpret_cast<const char*>(&kMetric), sizeof kMetric},
               &attributes);
  return socket.Ask(type, static_cast<uint16_t>(flags | NLM_F_ACK), head, attributes,
                    [](const ifaddrmsg&, std::string_view) {});
}

bool IsMarked(std::string_view attributes) {
  const std::string_view mark = Find(attributes, kProtocol);
  if (!mark.empty()) return mark.size() == 1 && static_cast<uint8_t>(mark[0]) == kMark;
  uint32_t metric = 0;
  const std::string_view bytes = Find(attributes, IFA_RT_PRIORITY);
  if (bytes.size() == sizeof metric) std::memcpy(&metric, bytes.data(), sizeof metric);
  return metric == kMetric;
}

Result<std::set<Ip>> Ours(const Socket& socket) {
  std::set<Ip> out;
  const uint32_t loopback = if_nametoindex("lo");
  const int error = socket.Ask(
      RTM_GETADDR, NLM_F_DUMP, {}, "", [&](const ifaddrmsg& head, std::string_view attributes) {
        if (head.ifa_index != loopback || !IsMarked(attributes)) return;
        out.insert({head.ifa_family, std::string(Find(attributes, IFA_ADDRESS))});
      });
  if (error != 0) return Failed(error, "cannot list addresses");
  return out;
}

// The kernel creates the routes to new IPv6 addresses asynchronously and notifies afterwards: until
// then packets to them are routed elsewhere. `news` must be opened before the addresses are added.
// Stops waiting after a timeout, for example if the interface is down.
void AwaitRoutes(const Socket& notifications, std::set<Ip> added) {
  const auto made = [&](const ifaddrmsg& head, std::string_view attributes) {
    added.erase({head.ifa_family, std::string(Find(attributes, IFA_ADDRESS))});
  };
  while (!added.empty() && notifications.ReadNotifications(kRouteTime, made)) {
  }
}

Status Remove(const Socket& socket, const std::set<Ip>& addresses) {
  for (const Ip& ip : addresses) {
    const int error = Change(socket, RTM_DELADDR, 0, ip);
    if (error != 0 && error != EADDRNOTAVAIL) return Failed(error, "cannot remove an address");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<LoopbackAddresses>> LoopbackAddresses::Add(
    const std::vector<std::string>& addresses) {
  std::set<Ip> wanted;
  for (const std::string& address : addresses) {
    COX_ASSIGN_OR_RETURN(Ip ip, ParseIp(address));
    wanted.insert(std::move(ip));
  }
  const Socket socket;
  COX_ASSIGN_OR_RETURN(std::set<Ip> unwanted, Ours(socket));
  std::erase_if(unwanted, [&](const Ip& ip) { return wanted.contains(ip); });
  COX_RETURN_IF_ERROR(Remove(socket, unwanted));
  auto added = std::make_unique<LoopbackAddresses>();  // removes them if an error follows
  const Socket notifications(RTMGRP_IPV6_IFADDR);
  std::set<Ip> awaited;
  for (const Ip& ip : wanted) {
    const int error = Change(socket, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, ip);
    if (error != 0 && error != EEXIST) {
      return Failed(error, "cannot give the loopback interface an address");
    }
    if (error == 0 && ip.family == AF_INET6) awaited.insert(ip);
  }
  AwaitRoutes(notifications, std::move(awaited));
  return added;
}

Status LoopbackAddresses::RemoveAll() {
  const Socket socket;
  COX_ASSIGN_OR_RETURN(const std::set<Ip> ours, Ours(socket));
  return Remove(socket, ours);
}

}  // namespace cox::dns
