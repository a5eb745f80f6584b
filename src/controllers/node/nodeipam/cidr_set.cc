// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodeipam/cidr_set.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::controllers {
namespace {

using validation::Cidr;
using validation::IpAddress;

constexpr int kMostBits = 16;

// Bits are counted from the first of 128; IPv4 addresses start after the mapped prefix.
int FirstBit(const Cidr& cidr) { return cidr.address.written_as_ipv6 ? 0 : 96; }

bool BitAt(const IpAddress& address, int bit) {
  return (address.bytes[static_cast<size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0;
}

void SetBit(IpAddress& address, int bit) {
  address.bytes[static_cast<size_t>(bit / 8)] |= static_cast<uint8_t>(1 << (7 - bit % 8));
}

bool SamePrefix(const IpAddress& a, const IpAddress& b, int from, int bits) {
  for (int i = from; i < from + bits; ++i) {
    if (BitAt(a, i) != BitAt(b, i)) return false;
  }
  return true;
}

}  // namespace

CidrSet::CidrSet(Cidr range, int subnet_mask)
    : range_(std::move(range)),
      mask_(subnet_mask),
      taken_(size_t{1} << static_cast<unsigned>(subnet_mask - range_.prefix)) {
  range_.address = range_.Network();
  range_.address.written_as_ipv6 = FirstBit(range_) == 0;
}

Result<CidrSet> CidrSet::Create(std::string_view range, int subnet_mask) {
  std::optional<Cidr> parsed = validation::ParseCidrSloppy(range);
  if (!parsed) {
    return Status::BadRequest(Quote(range) + " is no CIDR such as 10.244.0.0/16");
  }
  const bool ipv6 = parsed->address.written_as_ipv6;
  if (subnet_mask > (ipv6 ? 128 : 32) || subnet_mask < parsed->prefix) {
    return Status::BadRequest("a mask of " + std::to_string(subnet_mask) +
                              " bits for nodes does not fit the cluster's range " +
                              std::string(range));
  }
  if (subnet_mask - parsed->prefix > kMostBits) {
    return Status::BadRequest("the cluster's range " + std::string(range) +
                              " has more than 65,536 subnets of /" + std::to_string(subnet_mask) +
                              ": use a smaller range, or larger subnets for nodes");
  }
  const bool written_as_ipv6 = ipv6;
  IpAddress network = parsed->Network();
  network.written_as_ipv6 = written_as_ipv6;
  parsed->address = network;
  return CidrSet(*std::move(parsed), subnet_mask);
}

std::string CidrSet::Subnet(size_t index) const {
  Cidr subnet = range_;
  subnet.prefix = mask_;
  for (int bit = FirstBit(range_) + mask_ - 1; index != 0; --bit, index >>= 1) {
    if ((index & 1) != 0) SetBit(subnet.address, bit);
  }
  return subnet.ToString();
}

std::optional<std::pair<size_t, size_t>> CidrSet::Covered(std::string_view cidr) const {
  const std::optional<Cidr> other = validation::ParseCidrSloppy(cidr);
  if (!other || other->address.written_as_ipv6 != IsIpv6()) return std::nullopt;
  const int first_bit = FirstBit(range_);
  const int common = std::min(range_.prefix, other->prefix);
  if (!SamePrefix(range_.address, other->address, first_bit, common)) return std::nullopt;
  if (other->prefix <= range_.prefix) return std::pair(size_t{0}, taken_.size() - 1);
  // The bits of the subnet index that the other CIDR contains.
  const int known = std::min(mask_, other->prefix) - range_.prefix;
  size_t index = 0;
  for (int i = 0; i < known; ++i) {
    index = index << 1 | (BitAt(other->address, first_bit + range_.prefix + i) ? 1U : 0U);
  }
  const auto open = static_cast<unsigned>(mask_ - range_.prefix - known);
  index <<= open;
  return std::pair(index, index + (size_t{1} << open) - 1);
}

void CidrSet::Set(size_t index, bool taken) {
  if (taken_[index] == taken) return;
  taken_[index] = taken;
  used_ += taken ? 1 : size_t(-1);
}

std::optional<std::string> CidrSet::Allocate() {
  if (used_ == taken_.size()) return std::nullopt;
  while (taken_[next_]) next_ = (next_ + 1) % taken_.size();
  const size_t index = next_;
  next_ = (next_ + 1) % taken_.size();
  Set(index, true);
  return Subnet(index);
}

bool CidrSet::Occupy(std::string_view cidr) {
  const auto covered = Covered(cidr);
  if (!covered) return false;
  for (size_t i = covered->first; i <= covered->second; ++i) Set(i, true);
  return true;
}

void CidrSet::Release(std::string_view cidr) {
  const auto covered = Covered(cidr);
  if (!covered) return;
  for (size_t i = covered->first; i <= covered->second; ++i) Set(i, false);
}

}  // namespace cox::controllers
