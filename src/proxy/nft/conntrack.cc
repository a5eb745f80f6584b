// SPDX-License-Identifier: Apache-2.0
#include "proxy/nft/conntrack.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "proxy/nft/attributes.h"

namespace cox::proxy::nft {
namespace {

Status Failed(const char* what) {
  return Status::Unavailable(std::string(what) + ": " + std::strerror(errno));
}

std::string Message(uint16_t type, uint16_t flags, Family family, std::string_view attributes) {
  struct {
    nlmsghdr head;
    nfgenmsg general;
  } message{};
  message.head.nlmsg_len = static_cast<uint32_t>(sizeof message + attributes.size());
  message.head.nlmsg_type = static_cast<uint16_t>(NFNL_SUBSYS_CTNETLINK << 8 | type);
  message.head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  message.general.nfgen_family = family == Family::kIpv4 ? AF_INET : AF_INET6;
  std::string out(reinterpret_cast<const char*>(&message), sizeof message);
  out += attributes;
  return out;
}

// The value of the first attribute of that type.
std::optional<std::string_view> Find(std::string_view attributes, uint16_t wanted) {
  while (attributes.size() >= 4) {
    uint16_t head[2];
    std::memcpy(head, attributes.data(), sizeof head);
    if (head[0] < 4 || head[0] > attributes.size()) return std::nullopt;
    if ((head[1] & NLA_TYPE_MASK) == wanted) return attributes.substr(4, head[0] - 4);
    attributes.remove_prefix(std::min<size_t>(attributes.size(), NLA_ALIGN(head[0])));
  }
  return std::nullopt;
}

struct End {
  Address address;
  uint16_t port = 0;
  uint8_t protocol = 0;
};

// The source or the destination of a tuple.
std::optional<End> ReadEnd(std::string_view tuple, Family family, bool source) {
  const auto ip = Find(tuple, CTA_TUPLE_IP);
  const auto proto = Find(tuple, CTA_TUPLE_PROTO);
  if (!ip || !proto) return std::nullopt;
  const uint16_t type = family == Family::kIpv4 ? (source ? CTA_IP_V4_SRC : CTA_IP_V4_DST)
                                                : (source ? CTA_IP_V6_SRC : CTA_IP_V6_DST);
  const auto address = Find(*ip, type);
  const auto number = Find(*proto, CTA_PROTO_NUM);
  const auto port = Find(*proto, source ? CTA_PROTO_SRC_PORT : CTA_PROTO_DST_PORT);
  End end;
  end.address.family = family;
  if (!address || address->size() != end.address.size() || !number || number->size() != 1 ||
      !port || port->size() != 2) {
    return std::nullopt;
  }
  std::memcpy(end.address.bytes.data(), address->data(), address->size());
  end.protocol = static_cast<uint8_t>((*number)[0]);
  std::memcpy(&end.port, port->data(), 2);
  end.port = ntohs(end.port);
  return end;
}

// The original tuple of the flow if it is stale.
std::optional<std::string> StaleTuple(std::string_view attributes, Family family,
                                      const std::function<bool(const Flow&)>& stale) {
  const auto original = Find(attributes, CTA_TUPLE_ORIG);
  const auto reply = Find(attributes, CTA_TUPLE_REPLY);
  if (!original || !reply) return std::nullopt;
  const auto asked = ReadEnd(*original, family, false);
  const auto answers = ReadEnd(*reply, family, true);
  if (!asked || !answers || asked->protocol != IPPROTO_UDP) return std::nullopt;
  if (!stale({asked->protocol, asked->address, asked->port, answers->address, answers->port})) {
    return std::nullopt;
  }
  return std::string(*original);
}

// 0: not an error message.
int ErrorOf(const nlmsghdr* head) {
  if (head->nlmsg_type != NLMSG_ERROR || head->nlmsg_len < NLMSG_LENGTH(sizeof(int))) return 0;
  return -reinterpret_cast<const nlmsgerr*>(NLMSG_DATA(head))->error;
}

Result<std::vector<std::string>> FindStale(int fd, Family family,
                                           const std::function<bool(const Flow&)>& stale) {
  const std::string ask = Message(IPCTNL_MSG_CT_GET, NLM_F_DUMP, family, "");
  if (send(fd, ask.data(), ask.size(), 0) < 0) return Failed("cannot list connections");
  std::vector<std::string> tuples;
  alignas(nlmsghdr) std::array<char, 32 * 1024> buffer;
  for (;;) {
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Failed("cannot read connections");
    auto left = static_cast<unsigned>(got);
    for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left);
         head = NLMSG_NEXT(head, left)) {
      if (head->nlmsg_type == NLMSG_DONE) return tuples;
      if (const int error = ErrorOf(head); error != 0) {
        errno = error;
        return Failed("cannot list connections");
      }
      constexpr size_t kHead = NLMSG_LENGTH(sizeof(nfgenmsg));
      if (head->nlmsg_len < kHead) continue;
      const std::string_view attributes(reinterpret_cast<const char*>(head) + kHead,
                                        head->nlmsg_len - kHead);
      if (auto tuple = StaleTuple(attributes, family, stale)) tuples.push_back(*std::move(tuple));
    }
  }
}

Status Forget(int fd, Family family, const std::string& tuple) {
  std::string attributes;
  Attributes(&attributes).Bytes(CTA_TUPLE_ORIG | NLA_F_NESTED, tuple);
  const std::string message = Message(IPCTNL_MSG_CT_DELETE, NLM_F_ACK, family, attributes);
  if (send(fd, message.data(), message.size(), 0) < 0) return Failed("cannot forget a connection");
  alignas(nlmsghdr) std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = recv(fd, buffer.data(), buffer.size(), 0)) < 0 && errno == EINTR) {
  }
  if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) return Failed("cannot forget a connection");
  errno = ErrorOf(reinterpret_cast<const nlmsghdr*>(buffer.data()));
  // ENOENT: the entry has expired meanwhile.
  return errno == 0 || errno == ENOENT ? Status() : Failed("cannot forget a connection");
}

}  // namespace

Status ForgetFlows(Family family, const std::function<bool(const Flow&)>& stale) {
  const Fd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!fd.valid()) return Failed("cannot open a netlink socket to connection tracking");
  COX_ASSIGN_OR_RETURN(const std::vector<std::string> tuples, FindStale(fd.get(), family, stale));
  for (const std::string& tuple : tuples) COX_RETURN_IF_ERROR(Forget(fd.get(), family, tuple));
  return {};
}

}  // namespace cox::proxy::nft
