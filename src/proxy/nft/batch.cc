// SPDX-License-Identifier: Apache-2.0
#include "proxy/nft/batch.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include "proxy/nft/attributes.h"

namespace cox::proxy::nft {
namespace {

// nft's numbers for key types; a concatenation has six bits for each part.
constexpr uint32_t kTypeIpv4 = 7;
constexpr uint32_t kTypeIpv6 = 8;
constexpr uint32_t kTypeProtocol = 12;
constexpr uint32_t kTypeService = 13;
constexpr uint32_t kTypeMark = 19;
// The maximum number of clients per endpoint with session affinity. Dynamic sets need a limit.
constexpr uint32_t kRememberedClients = 65'535;

uint32_t TypeOf(KeyType key, Family family) {
  const uint32_t address = family == Family::kIpv4 ? kTypeIpv4 : kTypeIpv6;
  switch (key) {
    case KeyType::kAddress:
      return address;
    case KeyType::kAddressPort:
      return address << 12 | kTypeProtocol << 6 | kTypeService;
    case KeyType::kPort:
      return kTypeProtocol << 6 | kTypeService;
    case KeyType::kNumber:
      return kTypeMark;
  }
  return 0;
}

uint32_t LengthOf(KeyType key, Family family) {
  const uint32_t address = family == Family::kIpv4 ? 4 : 16;
  switch (key) {
    case KeyType::kAddress:
      return address;
    case KeyType::kAddressPort:
      return address + 8;
    case KeyType::kPort:
      return 8;
    case KeyType::kNumber:
      return 4;
  }
  return 0;
}

uint32_t FlagsOf(const SetSpec& set) {
  uint32_t flags = 0;
  if (set.verdicts) flags |= NFT_SET_MAP;
  if (set.timeout_milliseconds > 0) flags |= NFT_SET_TIMEOUT | NFT_SET_EVAL;
  return flags;
}

}  // namespace

template <class Fill>
void Batch::Message(uint16_t type, uint16_t flags, Fill fill) {
  const size_t at = messages_.size();
  nlmsghdr head{};
  head.nlmsg_type = static_cast<uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type);
  head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  head.nlmsg_seq = static_cast<uint32_t>(++count_);
  nfgenmsg general{};
  general.nfgen_family = family_ == Family::kIpv4 ? NFPROTO_IPV4 : NFPROTO_IPV6;
  messages_.append(reinterpret_cast<const char*>(&head), sizeof head);
  messages_.append(reinterpret_cast<const char*>(&general), sizeof general);
  Attributes out(&messages_);
  fill(out);
  const auto size = static_cast<uint32_t>(messages_.size() - at);
  std::memcpy(messages_.data() + at, &size, sizeof size);
}

void Batch::AddTable() {
  Message(NFT_MSG_NEWTABLE, NLM_F_CREATE, [&](Attributes& out) {
    out.Text(NFTA_TABLE_NAME, table_);
    out.U32(NFTA_TABLE_FLAGS, 0);
  });
}

void Batch::DeleteTable() {
  Message(NFT_MSG_DELTABLE, 0, [&](Attributes& out) { out.Text(NFTA_TABLE_NAME, table_); });
}

void Batch::AddChain(const std::string& name) {
  Message(NFT_MSG_NEWCHAIN, NLM_F_CREATE, [&](Attributes& out) {
    out.Text(NFTA_CHAIN_TABLE, table_);
    out.Text(NFTA_CHAIN_NAME, name);
  });
}

void Batch::AddBaseChain(const std::string& name, const Hook& hook) {
  Message(NFT_MSG_NEWCHAIN, NLM_F_CREATE, [&](Attributes& out) {
    out.Text(NFTA_CHAIN_TABLE, table_);
    out.Text(NFTA_CHAIN_NAME, name);
    out.Nest(NFTA_CHAIN_HOOK, [&] {
      out.U32(NFTA_HOOK_HOOKNUM, hook.number);
      out.U32(NFTA_HOOK_PRIORITY, static_cast<uint32_t>(hook.priority));
    });
    out.Text(NFTA_CHAIN_TYPE, hook.type == Hook::Type::kNat ? "nat" : "filter");
  });
}

void Batch::FlushChains() {
  Message(NFT_MSG_DELRULE, 0, [&](Attributes& out) { out.Text(NFTA_RULE_TABLE, table_); });
}

void Batch::FlushChain(const std::string& name) {
  Message(NFT_MSG_DELRULE, 0, [&](Attributes& out) {
    out.Text(NFTA_RULE_TABLE, table_);
    out.Text(NFTA_RULE_CHAIN, name);
  });
}

void Batch::DeleteChain(const std::string& name) {
  Message(NFT_MSG_DELCHAIN, 0, [&](Attributes& out) {
    out.Text(NFTA_CHAIN_TABLE, table_);
    out.Text(NFTA_CHAIN_NAME, name);
  });
}

void Batch::AddRule(const std::string& chain, std::string_view expressions) {
  Message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, [&](Attributes& out) {
    out.Text(NFTA_RULE_TABLE, table_);
    out.Text(NFTA_RULE_CHAIN, chain);
    out.Bytes(NFTA_RULE_EXPRESSIONS | NLA_F_NESTED, expressions);
  });
}

void Batch::AddSet(const SetSpec& set) {
  Message(NFT_MSG_NEWSET, NLM_F_CREATE, [&](Attributes& out) {
    out.Text(NFTA_SET_TABLE, table_);
    out.Text(NFTA_SET_NAME, set.name);
    out.U32(NFTA_SET_FLAGS, FlagsOf(set));
    out.U32(NFTA_SET_KEY_TYPE, TypeOf(set.key, family_));
    out.U32(NFTA_SET_KEY_LEN, LengthOf(set.key, family_));
    out.U32(NFTA_SET_ID, next_set_id_++);
    if (set.verdicts) out.U32(NFTA_SET_DATA_TYPE, NFT_DATA_VERDICT);
    if (set.timeout_milliseconds > 0) {
      out.U64(NFTA_SET_TIMEOUT, set.timeout_milliseconds);
      out.Nest(NFTA_SET_DESC, [&] { out.U32(NFTA_SET_DESC_SIZE, kRememberedClients); });
    }
  });
}

void Batch::DeleteSet(const std::string& name) {
  Message(NFT_MSG_DELSET, 0, [&](Attributes& out) {
    out.Text(NFTA_SET_TABLE, table_);
    out.Text(NFTA_SET_NAME, name);
  });
}

void Batch::Elements(uint16_t type, uint16_t flags, const std::string& set, std::string_view key,
                     std::string_view verdict) {
  Message(type, flags, [&](Attributes& out) {
    out.Text(NFTA_SET_ELEM_LIST_TABLE, table_);
    out.Text(NFTA_SET_ELEM_LIST_SET, set);
    out.Nest(NFTA_SET_ELEM_LIST_ELEMENTS, [&] {
      out.Nest(NFTA_LIST_ELEM, [&] {
        out.Nest(NFTA_SET_ELEM_KEY, [&] { out.Bytes(NFTA_DATA_VALUE, key); });
        if (!verdict.empty()) out.Bytes(NFTA_SET_ELEM_DATA | NLA_F_NESTED, verdict);
      });
    });
  });
}

void Batch::AddElement(const std::string& set, std::string_view key, std::string_view verdict) {
  Elements(NFT_MSG_NEWSETELEM, NLM_F_CREATE, set, key, verdict);
}

void Batch::DeleteElement(const std::string& set, std::string_view key) {
  Elements(NFT_MSG_DELSETELEM, 0, set, key, "");
}

void Batch::FlushSet(const std::string& name) {
  Message(NFT_MSG_DELSETELEM, 0, [&](Attributes& out) {
    out.Text(NFTA_SET_ELEM_LIST_TABLE, table_);
    out.Text(NFTA_SET_ELEM_LIST_SET, name);
  });
}

bool Listing::Set::is_verdict_map() const { return (flags & NFT_SET_MAP) != 0; }

bool Listing::Set::Matches(const SetSpec& spec, Family family) const {
  return name == spec.name && flags == FlagsOf(spec) && key_length == LengthOf(spec.key, family) &&
         timeout_milliseconds == spec.timeout_milliseconds;
}

}  // namespace cox::proxy::nft
