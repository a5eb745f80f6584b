// SPDX-License-Identifier: Apache-2.0
#include "proxy/nft/rule.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/rtnetlink.h>

#include "proxy/nft/attributes.h"

namespace cox::proxy::nft {
namespace {

// Four-byte registers; an IPv6 address uses four of them.
constexpr uint32_t kReg0 = NFT_REG32_00;
constexpr uint32_t kReg1 = NFT_REG32_01;
constexpr uint32_t kStateNew = 1 << 3;  // the bit of IP_CT_NEW

std::string Native(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }
std::string BigEndian(uint16_t value) {
  const uint16_t big = htons(value);
  return {reinterpret_cast<const char*>(&big), sizeof big};
}

}  // namespace

template <class Fill>
void RuleBuilder::Expression(std::string_view name, Fill fill) {
  Attributes out(&bytes_);
  out.Nest(NFTA_LIST_ELEM, [&] {
    out.Text(NFTA_EXPR_NAME, name);
    out.Nest(NFTA_EXPR_DATA, [&] { fill(out); });
  });
}

void RuleBuilder::LoadPayload(uint32_t base, uint32_t offset, uint32_t size, uint32_t to) {
  Expression("payload", [&](Attributes& out) {
    out.U32(NFTA_PAYLOAD_DREG, to);
    out.U32(NFTA_PAYLOAD_BASE, base);
    out.U32(NFTA_PAYLOAD_OFFSET, offset);
    out.U32(NFTA_PAYLOAD_LEN, size);
  });
}

void RuleBuilder::LoadAddress(bool source, uint32_t to) {
  if (family_ == Family::kIpv4) {
    LoadPayload(NFT_PAYLOAD_NETWORK_HEADER, source ? 12 : 16, 4, to);
  } else {
    LoadPayload(NFT_PAYLOAD_NETWORK_HEADER, source ? 8 : 24, 16, to);
  }
}

void RuleBuilder::LoadMeta(uint32_t key, uint32_t to) {
  Expression("meta", [&](Attributes& out) {
    out.U32(NFTA_META_KEY, key);
    out.U32(NFTA_META_DREG, to);
  });
}

void RuleBuilder::Compare(uint32_t reg, bool equal, std::string_view value) {
  Expression("cmp", [&](Attributes& out) {
    out.U32(NFTA_CMP_SREG, reg);
    out.U32(NFTA_CMP_OP, equal ? NFT_CMP_EQ : NFT_CMP_NEQ);
    out.Nest(NFTA_CMP_DATA, [&] { out.Bytes(NFTA_DATA_VALUE, value); });
  });
}

void RuleBuilder::And(uint32_t reg, std::string_view mask, std::string_view exclusive_or) {
  Expression("bitwise", [&](Attributes& out) {
    out.U32(NFTA_BITWISE_SREG, reg);
    out.U32(NFTA_BITWISE_DREG, reg);
    out.U32(NFTA_BITWISE_LEN, static_cast<uint32_t>(mask.size()));
    out.Nest(NFTA_BITWISE_MASK, [&] { out.Bytes(NFTA_DATA_VALUE, mask); });
    out.Nest(NFTA_BITWISE_XOR, [&] { out.Bytes(NFTA_DATA_VALUE, exclusive_or); });
  });
}

void RuleBuilder::Lookup(const std::string& set, uint32_t key, bool verdict) {
  Expression("lookup", [&](Attributes& out) {
    out.Text(NFTA_LOOKUP_SET, set);
    out.U32(NFTA_LOOKUP_SREG, key);
    if (verdict) out.U32(NFTA_LOOKUP_DREG, NFT_REG_VERDICT);
  });
}

void RuleBuilder::MatchPrefix(bool source, const Prefix& prefix, bool inside) {
  LoadAddress(source, kReg0);
  if (prefix.bits < prefix.address.size() * 8) {
    And(kReg0, prefix.Mask(), std::string(prefix.address.size(), '\0'));
  }
  Compare(kReg0, inside, prefix.address.view());
}

RuleBuilder& RuleBuilder::Source(const Prefix& prefix, bool inside) {
  MatchPrefix(true, prefix, inside);
  return *this;
}

RuleBuilder& RuleBuilder::Destination(const Prefix& prefix, bool inside) {
  MatchPrefix(false, prefix, inside);
  return *this;
}

RuleBuilder& RuleBuilder::Destination(const Address& address) {
  LoadAddress(false, kReg0);
  Compare(kReg0, true, address.view());
  return *this;
}

RuleBuilder& RuleBuilder::Protocol(uint8_t protocol) {
  LoadMeta(NFT_META_L4PROTO, kReg0);
  Compare(kReg0, true, {reinterpret_cast<const char*>(&protocol), 1});
  return *this;
}

RuleBuilder& RuleBuilder::DestinationPort(uint16_t port) {
  LoadPayload(NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2, kReg0);
  Compare(kReg0, true, BigEndian(port));
  return *this;
}

RuleBuilder& RuleBuilder::NewConnection() {
  Expression("ct", [&](Attributes& out) {
    out.U32(NFTA_CT_DREG, kReg0);
    out.U32(NFTA_CT_KEY, NFT_CT_STATE);
  });
  And(kReg0, Native(kStateNew), Native(0));
  Compare(kReg0, false, Native(0));
  return *this;
}

void RuleBuilder::FibType(uint32_t flags) {
  Expression("fib", [&](Attributes& out) {
    out.U32(NFTA_FIB_DREG, kReg0);
    out.U32(NFTA_FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE);
    out.U32(NFTA_FIB_FLAGS, flags);
  });
  Compare(kReg0, true, Native(RTN_LOCAL));
}

RuleBuilder& RuleBuilder::LocalSource() {
  FibType(NFTA_FIB_F_SADDR);
  return *this;
}

RuleBuilder& RuleBuilder::LocalDestination() {
  FibType(NFTA_FIB_F_DADDR);
  return *this;
}

RuleBuilder& RuleBuilder::SourceIn(const std::string& set) {
  LoadAddress(true, kReg0);
  Lookup(set, kReg0, false);
  return *this;
}

RuleBuilder& RuleBuilder::DestinationIn(const std::string& set) {
  LoadAddress(false, kReg0);
  Lookup(set, kReg0, false);
  return *this;
}

RuleBuilder& RuleBuilder::NotMarked(uint32_t mark) {
  LoadMeta(NFT_META_MARK, kReg0);
  And(kReg0, Native(mark), Native(0));
  Compare(kReg0, true, Native(0));
  return *this;
}

RuleBuilder& RuleBuilder::Do(const Verdict& verdict) {
  Expression("immediate", [&](Attributes& out) {
    out.U32(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    out.Bytes(NFTA_IMMEDIATE_DATA | NLA_F_NESTED, EncodeVerdict(verdict));
  });
  return *this;
}

RuleBuilder& RuleBuilder::AddressMap(const std::string& map) {
  const uint32_t next = family_ == Family::kIpv4 ? kReg1 : kReg0 + 4;
  LoadAddress(false, kReg0);
  LoadMeta(NFT_META_L4PROTO, next);
  LoadPayload(NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2, next + 1);
  Lookup(map, kReg0, true);
  return *this;
}

RuleBuilder& RuleBuilder::PortMap(const std::string& map) {
  LoadMeta(NFT_META_L4PROTO, kReg0);
  LoadPayload(NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2, kReg1);
  Lookup(map, kReg0, true);
  return *this;
}

void RuleBuilder::LoadRandom(uint32_t modulus) {
  Expression("numgen", [&](Attributes& out) {
    out.U32(NFTA_NG_DREG, kReg0);
    out.U32(NFTA_NG_MODULUS, modulus);
    out.U32(NFTA_NG_TYPE, NFT_NG_RANDOM);
    out.U32(NFTA_NG_OFFSET, 0);
  });
}

RuleBuilder& RuleBuilder::OneOf(uint32_t modulus) {
  LoadRandom(modulus);
  Compare(kReg0, true, Native(0));
  return *this;
}

RuleBuilder& RuleBuilder::RandomMap(uint32_t modulus, const std::string& map) {
  LoadRandom(modulus);
  Lookup(map, kReg0, true);
  return *this;
}

RuleBuilder& RuleBuilder::SetMark(uint32_t mark) {
  LoadMeta(NFT_META_MARK, kReg0);
  And(kReg0, Native(~mark), Native(mark));
  Expression("meta", [&](Attributes& out) {
    out.U32(NFTA_META_KEY, NFT_META_MARK);
    out.U32(NFTA_META_SREG, kReg0);
  });
  return *this;
}

RuleBuilder& RuleBuilder::ClearMark(uint32_t mark) {
  LoadMeta(NFT_META_MARK, kReg0);
  And(kReg0, Native(~mark), Native(0));
  Expression("meta", [&](Attributes& out) {
    out.U32(NFTA_META_KEY, NFT_META_MARK);
    out.U32(NFTA_META_SREG, kReg0);
  });
  return *this;
}

RuleBuilder& RuleBuilder::Remember(const std::string& set, uint64_t milliseconds) {
  LoadAddress(true, kReg0);
  Expression("dynset", [&](Attributes& out) {
    out.Text(NFTA_DYNSET_SET_NAME, set);
    out.U32(NFTA_DYNSET_OP, NFT_DYNSET_OP_UPDATE);
    out.U32(NFTA_DYNSET_SREG_KEY, kReg0);
    out.U64(NFTA_DYNSET_TIMEOUT, milliseconds);
  });
  return *this;
}

void RuleBuilder::Immediate(uint32_t to, std::string_view value) {
  Expression("immediate", [&](Attributes& out) {
    out.U32(NFTA_IMMEDIATE_DREG, to);
    out.Nest(NFTA_IMMEDIATE_DATA, [&] { out.Bytes(NFTA_DATA_VALUE, value); });
  });
}

RuleBuilder& RuleBuilder::Dnat(const Address& address, uint16_t port) {
  const uint32_t port_reg = kReg0 + 4;
  Immediate(kReg0, address.view());
  Immediate(port_reg, BigEndian(port));
  Expression("nat", [&](Attributes& out) {
    out.U32(NFTA_NAT_TYPE, NFT_NAT_DNAT);
    out.U32(NFTA_NAT_FAMILY, family_ == Family::kIpv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
    out.U32(NFTA_NAT_REG_ADDR_MIN, kReg0);
    out.U32(NFTA_NAT_REG_PROTO_MIN, port_reg);
  });
  return *this;
}

RuleBuilder& RuleBuilder::Masquerade() {
  Expression("masq",
             [&](Attributes& out) { out.U32(NFTA_MASQ_FLAGS, NF_NAT_RANGE_PROTO_RANDOM_FULLY); });
  return *this;
}

RuleBuilder& RuleBuilder::Reject() {
  constexpr uint8_t kPortUnreachable4 = 3;
  constexpr uint8_t kPortUnreachable6 = 4;
  Expression("reject", [&](Attributes& out) {
    out.U32(NFTA_REJECT_TYPE, NFT_REJECT_ICMP_UNREACH);
    out.U8(NFTA_REJECT_ICMP_CODE, family_ == Family::kIpv4 ? kPortUnreachable4 : kPortUnreachable6);
  });
  return *this;
}

std::string EncodeVerdict(const Verdict& verdict) {
  std::string bytes;
  Attributes out(&bytes);
  out.Nest(NFTA_DATA_VERDICT, [&] {
    out.U32(NFTA_VERDICT_CODE, static_cast<uint32_t>(verdict.code));
    if (!verdict.chain.empty()) out.Text(NFTA_VERDICT_CHAIN, verdict.chain);
  });
  return bytes;
}

std::string PortKey(uint8_t protocol, uint16_t port) {
  std::string key(8, '\0');
  key[0] = static_cast<char>(protocol);
  key[4] = static_cast<char>(port >> 8);
  key[5] = static_cast<char>(port & 0xff);
  return key;
}

std::string AddressKey(const Address& address, uint8_t protocol, uint16_t port) {
  return std::string(address.view()) + PortKey(protocol, port);
}

std::string NumberKey(uint32_t number) { return Native(number); }

}  // namespace cox::proxy::nft
