// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cox::apiserver {

// A number in [0, bound), each as likely as the others. REQUIRES: bound > 0
using Random = std::function<uint64_t(uint64_t bound)>;

// Ports of nodes that services may have, both ends included.
struct PortRange {
  int32_t first = 30000;
  int32_t last = 32767;

  int32_t size() const { return last - first + 1; }
  bool Contains(int32_t port) const { return port >= first && port <= last; }
  std::string ToString() const;  // "30000-32767"
  // None for what is no range of ports.
  static std::optional<PortRange> Parse(std::string_view text);

  bool operator==(const PortRange&) const = default;
};

// Which ports of a range are taken.
//
// As of addresses (ip_range.h) the lower band is left for users to choose.
// Wire form: the bits as one number, big-endian, without leading zero bytes; the bit of value 1 is
// the first port. It is what upstream stores in a RangeAllocation.
// A value; pure.
class PortBitmap {
 public:
  explicit PortBitmap(PortRange range);
  PortBitmap(PortRange range, std::string_view data);

  const PortRange& range() const { return range_; }
  // How many ports, the lowest, are left for users to choose.
  int32_t lower_band() const;

  // REQUIRES: range().Contains(port) for these three.
  bool Has(int32_t port) const { return bits_[Index(port)]; }
  void Set(int32_t port) { bits_[Index(port)] = true; }
  void Clear(int32_t port) { bits_[Index(port)] = false; }

  // A port that is not taken: from a random place in the upper band on, then in the lower one.
  // None: all are taken.
  std::optional<int32_t> FindFree(const Random& random) const;

  std::string Data() const;

  bool operator==(const PortBitmap&) const = default;

 private:
  size_t Index(int32_t port) const { return static_cast<size_t>(port - range_.first); }

  PortRange range_;
  std::vector<bool> bits_;
};

}  // namespace cox::apiserver
