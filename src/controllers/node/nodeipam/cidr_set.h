// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "object/validation/ip.h"

namespace cox::controllers {

// Divides a range into subnets of one size and allocates them with a bitmap.
//
//   CidrSet of 10.244.0.0/16 and 24: 10.244.0.0/24, 10.244.1.0/24, ... 10.244.255.0/24
//
// Guarantees: a released subnet is allocated again only after all others, so that stale state of
//   its previous owner can expire.
// Threads: not thread-safe.
class CidrSet {
 public:
  // Returns BadRequest for a malformed range, for a mask that does not fit the range, and for more
  // than 65,536 subnets.
  static Result<CidrSet> Create(std::string_view range, int subnet_mask);

  // Returns nullopt if all subnets are allocated.
  std::optional<std::string> Allocate();
  // Marks all subnets that overlap `cidr` as allocated. Returns false if none overlaps.
  bool Occupy(std::string_view cidr);
  void Release(std::string_view cidr);

  bool IsIpv6() const { return range_.address.written_as_ipv6; }
  size_t size() const { return taken_.size(); }
  size_t used() const { return used_; }

 private:
  CidrSet(validation::Cidr range, int subnet_mask);

  std::string Subnet(size_t index) const;
  // Returns the first and last of the subnets that overlap `cidr`.
  std::optional<std::pair<size_t, size_t>> Covered(std::string_view cidr) const;
  void Set(size_t index, bool taken);

  validation::Cidr range_;
  int mask_ = 0;
  std::vector<bool> taken_;
  size_t used_ = 0;
  size_t next_ = 0;  // where the next search starts
};

}  // namespace cox::controllers
