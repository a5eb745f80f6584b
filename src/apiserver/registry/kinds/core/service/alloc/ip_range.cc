// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/ip_range.h"

#include <algorithm>

namespace cox::apiserver {
namespace {

constexpr int kMaxHostBits = 62;
// The lower band is 1/16 of the range, at least 16 and at most 256 addresses.
constexpr uint64_t kBandShare = 16, kMinBand = 16, kMaxBand = 256;

}  // namespace

std::string_view FamilyOf(const validation::IpAddress& ip) {
  return ip.IsIpv4() && !ip.written_as_ipv6 ? "IPv4" : "IPv6";
}

std::optional<IpRange> IpRange::Parse(std::string_view text) {
  if (!validation::IsValidCIDR(FieldPath("cidr"), text).empty()) return std::nullopt;
  const std::optional<validation::Cidr> cidr = validation::ParseCidrSloppy(text);
  if (!cidr) return std::nullopt;
  IpRange range;
  range.cidr_ = cidr->ToString();
  range.base_ = cidr->Network();
  range.base_.written_as_ipv6 = cidr->address.written_as_ipv6;
  const bool ipv6 = cidr->address.written_as_ipv6;
  range.prefix_ = ipv6 ? cidr->prefix : 96 + cidr->prefix;
  const uint64_t all = uint64_t{1} << std::min(128 - range.prefix_, kMaxHostBits);
  const uint64_t unusable = ipv6 ? 1 : 2;  // the network address; IPv4: also broadcast
  range.size_ = all > unusable ? all - unusable : 0;
  range.lower_band_ = all < kMinBand ? 0 : std::clamp(all / kBandShare, kMinBand, kMaxBand);
  range.lower_band_ = std::min(range.lower_band_, range.size_);
  return range;
}

bool IpRange::Contains(const validation::IpAddress& ip) const {
  if (FamilyOf(ip) != family()) return false;
  for (int bit = 0; bit < prefix_; bit += 8) {
    const int left = prefix_ - bit;
    const auto mask = static_cast<uint8_t>(left >= 8 ? 0xff : 0xff << (8 - left));
    const auto i = static_cast<size_t>(bit / 8);
    if ((ip.bytes[i] & mask) != (base_.bytes[i] & mask)) return false;
  }
  return true;
}

bool IpRange::Allocatable(const validation::IpAddress& ip) const {
  if (!Contains(ip)) return false;
  // The offset from the base; its upper 64 bits must be zero.
  uint64_t offset = 0;
  for (size_t i = 0; i < 16; ++i) {
    const auto host = static_cast<uint8_t>(ip.bytes[i] ^ base_.bytes[i]);
    if (i < 8 && host != 0) return false;
    if (i >= 8) offset = offset << 8 | host;
  }
  return offset >= 1 && offset <= size_;
}

validation::IpAddress IpRange::At(uint64_t index) const {
  validation::IpAddress ip = base_;
  uint64_t offset = index + 1;
  for (size_t i = 16; i-- > 8; offset >>= 8) ip.bytes[i] |= static_cast<uint8_t>(offset & 0xff);
  return ip;
}

}  // namespace cox::apiserver
