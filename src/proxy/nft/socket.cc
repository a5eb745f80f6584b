// SPDX-License-Identifier: Apache-2.0
#include "proxy/nft/socket.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "proxy/nft/attributes.h"

namespace cox::proxy::nft {
namespace {

std::string Bound(uint16_t type) {
  struct {
    nlmsghdr head;
    nfgenmsg general;
  } message{};
  message.head.nlmsg_len = sizeof message;
  message.head.nlmsg_type = type;
  message.head.nlmsg_flags = NLM_F_REQUEST;
  message.general.res_id = htons(NFNL_SUBSYS_NFTABLES);
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

Status FromErrno(int error, const std::string& what) {
  const std::string text = what + ": " + std::strerror(error);
  if (error == EPERM) return Status::Forbidden(text + "; run with CAP_NET_ADMIN");
  if (error == EAFNOSUPPORT || error == EPROTONOSUPPORT || error == EOPNOTSUPP) {
    return Status::Unavailable(text + "; the kernel needs nf_tables");
  }
  return Status::Conflict(text);
}

constexpr uint32_t kQuery = 1;             // the sequence number of queries
constexpr size_t kDumpBuffer = 64 * 1024;  // the kernel sends at most 32 KiB at once

std::string Query(uint16_t type, uint16_t flags, Family family, const std::string& attributes) {
  nlmsghdr head{};
  head.nlmsg_type = static_cast<uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type);
  head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  head.nlmsg_seq = kQuery;
  nfgenmsg general{};
  general.nfgen_family = family == Family::kIpv4 ? NFPROTO_IPV4 : NFPROTO_IPV6;
  head.nlmsg_len = static_cast<uint32_t>(sizeof head + sizeof general + attributes.size());
  std::string message(reinterpret_cast<const char*>(&head), sizeof head);
  message.append(reinterpret_cast<const char*>(&general), sizeof general);
  return message + attributes;
}

void ForEach(std::string_view attributes,
             const std::function<void(uint16_t type, std::string_view value)>& take) {
  nlattr head;
  while (attributes.size() >= sizeof head) {
    std::memcpy(&head, attributes.data(), sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > attributes.size()) return;
    take(head.nla_type & NLA_TYPE_MASK, attributes.substr(sizeof head, head.nla_len - sizeof head));
    attributes.remove_prefix(std::min<size_t>(NLA_ALIGN(head.nla_len), attributes.size()));
  }
}

std::string TextOf(std::string_view value) {
  return std::string(value.substr(0, value.find('\0')));
}

// A big-endian number of any length.
uint64_t NumberOf(std::string_view value) {
  uint64_t number = 0;
  for (const char byte : value) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

// Requests an ACK for the last message: otherwise a batch without errors has no response.
void RequestAck(std::string* messages) {
  size_t at = 0;
  for (;;) {
    nlmsghdr head;
    std::memcpy(&head, messages->data() + at, sizeof head);
    if (at + NLMSG_ALIGN(head.nlmsg_len) >= messages->size()) {
      head.nlmsg_flags |= NLM_F_ACK;
      std::memcpy(messages->data() + at, &head, sizeof head);
      return;
    }
    at += NLMSG_ALIGN(head.nlmsg_len);
  }
}

}  // namespace

Result<std::unique_ptr<Socket>> Socket::Open() {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER);
  if (fd < 0) return FromErrno(errno, "cannot open a netlink socket to the packet filter");
  auto opened = std::make_unique<Socket>(fd);
  const int on = 1;  // responses without a copy of the request
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  sockaddr_nl self{};
  self.nl_family = AF_NETLINK;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&self), sizeof self) != 0) {
    return FromErrno(errno, "cannot bind a netlink socket");
  }
  return opened;
}

Socket::~Socket() { close(fd_); }

Status Socket::Commit(const Batch& batch) {
  if (batch.empty()) return {};
  std::string messages = batch.messages();
  RequestAck(&messages);
  COX_RETURN_IF_ERROR(Send(Bound(NFNL_MSG_BATCH_BEGIN) + messages + Bound(NFNL_MSG_BATCH_END)));
  return ReadAcks(static_cast<uint32_t>(batch.count()));
}

bool Socket::HasTable(Family family, std::string_view table) {
  std::string name;
  Attributes(&name).Text(NFTA_TABLE_NAME, table);
  return Send(Query(NFT_MSG_GETTABLE, NLM_F_ACK, family, name)).ok() && ReadAcks(kQuery).ok();
}

Result<Listing> Socket::List(Family family, std::string_view table) {
  Listing listing;
  // Older kernels send the objects of all tables.
  COX_RETURN_IF_ERROR(Dump(family, NFT_MSG_GETCHAIN, [&](std::string_view attributes) {
    std::string name;
    std::string of;
    ForEach(attributes, [&](uint16_t type, std::string_view value) {
      if (type == NFTA_CHAIN_TABLE) of = TextOf(value);
      if (type == NFTA_CHAIN_NAME) name = TextOf(value);
    });
    if (of == table) listing.chains.push_back(std::move(name));
  }));
  COX_RETURN_IF_ERROR(Dump(family, NFT_MSG_GETSET, [&](std::string_view attributes) {
    Listing::Set set;
    std::string of;
    ForEach(attributes, [&](uint16_t type, std::string_view value) {
      if (type == NFTA_SET_TABLE) of = TextOf(value);
      if (type == NFTA_SET_NAME) set.name = TextOf(value);
      if (type == NFTA_SET_FLAGS) set.flags = static_cast<uint32_t>(NumberOf(value));
      if (type == NFTA_SET_KEY_LEN) set.key_length = static_cast<uint32_t>(NumberOf(value));
      if (type == NFTA_SET_TIMEOUT) set.timeout_milliseconds = NumberOf(value);
    });
    if (of == table) listing.sets.push_back(std::move(set));
  }));
  return listing;
}

Status Socket::Dump(Family family, uint16_t type,
                    const std::function<void(std::string_view)>& take) {
  COX_RETURN_IF_ERROR(Send(Query(type, NLM_F_DUMP, family, "")));
  // The kernel makes the next part available before recv returns the previous one.
  std::vector<char> buffer(kDumpBuffer);
  bool interrupted = false;
  for (;;) {
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return FromErrno(got < 0 ? errno : EPIPE, "cannot list the packet filter");
    auto left = static_cast<unsigned>(got);
    for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left);
         head = NLMSG_NEXT(head, left)) {
      interrupted = interrupted || (head->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
      if (head->nlmsg_type == NLMSG_DONE) {
        return interrupted ? Status::Conflict("the packet filter changed while it was listed")
                           : Status();
      }
      if (head->nlmsg_type == NLMSG_ERROR) {
        const auto* error = reinterpret_cast<const nlmsgerr*>(NLMSG_DATA(head));
        return FromErrno(-error->error, "cannot list the packet filter");
      }
      constexpr size_t kHead = NLMSG_LENGTH(sizeof(nfgenmsg));
      if (head->nlmsg_len < kHead) continue;
      take({reinterpret_cast<const char*>(head) + kHead, head->nlmsg_len - kHead});
    }
  }
}

Status Socket::Send(const std::string& messages) {
  // A batch is sent as one datagram of any size.
  const int room = static_cast<int>(messages.size()) + 64 * 1024;
  setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const ssize_t sent = sendto(fd_, messages.data(), messages.size(), 0,
                              reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
  return sent < 0 ? FromErrno(errno, "cannot send rules to the packet filter") : Status();
}

Status Socket::ReadAcks(uint32_t last) {
  // The kernel processes the batch within sendto, so all responses are already available.
  Status first;
  bool answered = false;
  alignas(nlmsghdr) std::array<char, 16 * 1024> buffer;
  for (;;) {
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN && first.ok()) {
      first = FromErrno(errno, "cannot read the packet filter's answer");
    }
    if (got <= 0) break;
    auto left = static_cast<unsigned>(got);
    for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left);
         head = NLMSG_NEXT(head, left)) {
      if (head->nlmsg_type != NLMSG_ERROR) continue;
      const auto* error = reinterpret_cast<const nlmsgerr*>(NLMSG_DATA(head));
      if (error->error == 0) answered = answered || head->nlmsg_seq == last;
      if (error->error != 0 && first.ok()) {
        first = FromErrno(-error->error, "the packet filter refused message " +
                                             std::to_string(head->nlmsg_seq) + " of type " +
                                             std::to_string(error->msg.nlmsg_type & 0xff));
      }
    }
  }
  if (first.ok() && !answered) return Status::Conflict("the packet filter did not answer");
  return first;
}

}  // namespace cox::proxy::nft
