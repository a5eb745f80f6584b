// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "object/validation/ip.h"

namespace cox::apiserver {

// "IPv4" or "IPv6", as in spec.ipFamilies.
std::string_view FamilyOf(const validation::IpAddress& ip);

// The addresses of a CIDR that services may have: all but the first, and for IPv4 all but the last.
//
// The range has two bands. Users tend to choose low addresses, so the server allocates from the
// upper band first, and from the lower band only when the upper one is full. A value; pure.
class IpRange {
 public:
  // nullopt if the text is not a CIDR in canonical form.
  static std::optional<IpRange> Parse(std::string_view cidr);

  const std::string& cidr() const { return cidr_; }
  std::string_view family() const { return FamilyOf(base_); }
  int prefix() const { return prefix_; }

  // Whether the address is in the network, including addresses that no service can have.
  bool Contains(const validation::IpAddress& ip) const;
  // Whether the address is one of At(0) .. At(size() - 1).
  bool Allocatable(const validation::IpAddress& ip) const;

  // The number of addresses; at most 2^62 are used of larger ranges.
  uint64_t size() const { return size_; }
  // The number of addresses in the lower band.
  uint64_t lower_band() const { return lower_band_; }
  // REQUIRES: index < size()
  validation::IpAddress At(uint64_t index) const;

 private:
  std::string cidr_;
  validation::IpAddress base_;
  int prefix_ = 0;  // of 128
  uint64_t size_ = 0;
  uint64_t lower_band_ = 0;
};

}  // namespace cox::apiserver
