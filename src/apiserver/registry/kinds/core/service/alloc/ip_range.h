// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "object/validation/ip.h"

namespace cox::apiserver {

// "IPv4" or "IPv6", as spec.ipFamilies has it.
std::string_view FamilyOf(const validation::IpAddress& ip);

// The addresses of a CIDR that services may have: all but the first, and for IPv4 but the last.
//
// The range has two bands. Addresses that users choose tend to be low, so addresses chosen by the
// server come from the upper band first and from the lower one only when that is full.
// A value; pure.
class IpRange {
 public:
  // None for what is no CIDR in canonical form.
  static std::optional<IpRange> Parse(std::string_view cidr);

  const std::string& cidr() const { return cidr_; }
  std::string_view family() const { return FamilyOf(base_); }
  int prefix() const { return prefix_; }

  // In the network, also the addresses that no service can have.
  bool Contains(const validation::IpAddress& ip) const;
  // One of At(0) .. At(size() - 1).
  bool Allocatable(const validation::IpAddress& ip) const;

  // How many addresses there are to give; at most 2^62 of larger ranges are used.
  uint64_t size() const { return size_; }
  // How many of them, the lowest, are left for users to choose.
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
