// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cox::apiserver {

// Returns a uniformly distributed number in [0, bound). REQUIRES: bound > 0
using Random = std::function<uint64_t(uint64_t bound)>;

// The range of node ports, both ends included.
struct PortRange {
  int32_t first = 30000;
  int32_t last = 32767;

  int32_t size() const { return last - first + 1; }
  bool Contains(int32_t port) const { return port >= first && port <= last; }
  std::string ToString() const;  // "30000-32767"
  // nullopt if the text is not a port range.
  static std::optional<PortRange> Parse(std::string_view text);

  bool operator==(const PortRange&) const = default;
};

// The allocated ports of a range.
//
// As for addresses (ip_range.h), the lower band is for ports that users choose. Wire format, as in
// upstream's RangeAllocation: the bits as one big-endian number without leading zero bytes; the
// least significant bit is the first port. A value; pure.
class PortBitmap {
 public:
  explicit PortBitmap(PortRange range);
  PortBitmap(PortRange range, std::string_view data);

  const PortRange& range() const { return range_; }
  // The number of ports in the lower band.
  int32_t lower_band() const;

  // REQUIRES: range().Contains(port) for these three.
  bool Has(int32_t port) const { return bits_[Index(port)]; }
  void Set(int32_t port) { bits_[Index(port)] = true; }
  void Clear(int32_t port) { bits_[Index(port)] = false; }

  // Returns a free port: searches from a random port of the upper band, then in the lower band.
  // nullopt: all are allocated.
  std::optional<int32_t> FindFree(const Random& random) const;

  std::string Data() const;

  bool operator==(const PortBitmap&) const = default;

 private:
  size_t Index(int32_t port) const { return static_cast<size_t>(port - range_.first); }

  PortRange range_;
  std::vector<bool> bits_;
};

}  // namespace cox::apiserver
