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

// The subnets of one size that a range can be cut into, and which of them are taken: a bit each.
//
//   CidrSet of 10.244.0.0/16 and 24: 10.244.0.0/24, 10.244.1.0/24, ... 10.244.255.0/24
//
// Guarantees: a subnet that was given back is given out again only after all others, so that what
//   still remembers its last owner has time to forget.
// Threads: one at a time.
class CidrSet {
 public:
  // BadRequest, saying why, for a range that is none, a mask that does not fit it, and one that
  // would cut it into more than 65,536 pieces.
  static Result<CidrSet> Create(std::string_view range, int subnet_mask);

  // None: all are taken.
  std::optional<std::string> Allocate();
  // Takes all subnets that share an address with `cidr`. False: it has none in this range.
  bool Occupy(std::string_view cidr);
  void Release(std::string_view cidr);

  bool IsIpv6() const { return range_.address.written_as_ipv6; }
  size_t size() const { return taken_.size(); }
  size_t used() const { return used_; }

 private:
  CidrSet(validation::Cidr range, int subnet_mask);

  std::string Subnet(size_t index) const;
  // First and last of the subnets that share an address with it.
  std::optional<std::pair<size_t, size_t>> Covered(std::string_view cidr) const;
  void Set(size_t index, bool taken);

  validation::Cidr range_;
  int mask_ = 0;
  std::vector<bool> taken_;
  size_t used_ = 0;
  size_t next_ = 0;  // where the search begins
};

}  // namespace cox::controllers
