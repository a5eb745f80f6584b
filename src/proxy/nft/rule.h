// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>  // before linux/netfilter.h, which has conflicting definitions

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/model/address.h"

namespace cox::proxy::nft {

// The verdict for a packet. `chain` is used with kJump and kGoto.
struct Verdict {
  enum class Code : int32_t { kDrop = 0, kAccept = 1, kJump = -3, kGoto = -4, kReturn = -5 };
  Code code = Code::kReturn;
  std::string chain;

  static Verdict Goto(std::string chain) { return {Code::kGoto, std::move(chain)}; }
  static Verdict Jump(std::string chain) { return {Code::kJump, std::move(chain)}; }
  static Verdict Drop() { return {Code::kDrop, ""}; }
  bool operator==(const Verdict&) const = default;
};

// Encodes one rule, statement by statement as in nft's language, to the kernel's format: the
// expressions of NFTA_RULE_EXPRESSIONS. Equal rules have equal bytes, so rules can be compared.
//
//   RuleBuilder(Family::kIpv4).Source(pods, false).Do(Verdict::Jump("mark-for-masquerade")).Take()
//
// The kernel evaluates the statements in this order.
class RuleBuilder {
 public:
  explicit RuleBuilder(Family family) : family_(family) {}

  // Matches. The first one that fails ends the rule.
  RuleBuilder& Source(const Prefix& prefix, bool inside = true);       // ip saddr
  RuleBuilder& Destination(const Prefix& prefix, bool inside = true);  // ip daddr
  RuleBuilder& Destination(const Address& address);
  RuleBuilder& Protocol(uint8_t protocol);  // meta l4proto
  RuleBuilder& DestinationPort(uint16_t port);
  RuleBuilder& NewConnection();                        // ct state new
  RuleBuilder& LocalSource();                          // fib saddr type local
  RuleBuilder& LocalDestination();                     // fib daddr type local
  RuleBuilder& SourceIn(const std::string& set);       // ip saddr @set
  RuleBuilder& DestinationIn(const std::string& set);  // ip daddr @set
  RuleBuilder& NotMarked(uint32_t mark);               // meta mark & mark == 0
  RuleBuilder& OneOf(uint32_t modulus);                // numgen random mod `modulus` 0

  // Statements.
  RuleBuilder& Do(const Verdict& verdict);
  RuleBuilder& AddressMap(const std::string& map);  // ip daddr . meta l4proto . th dport vmap @map
  RuleBuilder& PortMap(const std::string& map);     // meta l4proto . th dport vmap @map
  // numgen random mod `modulus` vmap @map
  RuleBuilder& RandomMap(uint32_t modulus, const std::string& map);
  RuleBuilder& SetMark(uint32_t mark);    // meta mark set mark or `mark`
  RuleBuilder& ClearMark(uint32_t mark);  // meta mark set mark and not `mark`
  RuleBuilder& Remember(const std::string& set, uint64_t milliseconds);  // update @set { ip saddr }
  RuleBuilder& Dnat(const Address& address, uint16_t port);
  RuleBuilder& Masquerade();  // fully-random
  RuleBuilder& Reject();      // ICMP port unreachable

  std::string Take() { return std::move(bytes_); }

 private:
  template <class Fill>
  void Expression(std::string_view name, Fill fill);
  void LoadAddress(bool source, uint32_t to);
  void LoadRandom(uint32_t modulus);
  void LoadPayload(uint32_t base, uint32_t offset, uint32_t size, uint32_t to);
  void LoadMeta(uint32_t key, uint32_t to);
  void Immediate(uint32_t to, std::string_view value);
  void Compare(uint32_t reg, bool equal, std::string_view value);
  void And(uint32_t reg, std::string_view mask, std::string_view exclusive_or);
  void Lookup(const std::string& set, uint32_t key, bool verdict);
  void MatchPrefix(bool source, const Prefix& prefix, bool inside);
  void FibType(uint32_t flags);

  const Family family_;
  std::string bytes_;
};

// The value of an element of a verdict map, as in NFTA_SET_ELEM_DATA.
std::string EncodeVerdict(const Verdict& verdict);

// Keys of the maps above: each part is padded to four bytes.
std::string AddressKey(const Address& address, uint8_t protocol, uint16_t port);
std::string PortKey(uint8_t protocol, uint16_t port);
std::string NumberKey(uint32_t number);

}  // namespace cox::proxy::nft
