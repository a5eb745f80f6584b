// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/port_bitmap.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

// The lower band is 1/32 of the range, at least 16 and at most 128 ports.
constexpr int32_t kBandShare = 32, kMinBand = 16, kMaxBand = 128;

std::optional<int32_t> ParsePort(std::string_view text) {
  int32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (port < 0 || port > 65535) return std::nullopt;
  return port;
}

}  // namespace

std::string PortRange::ToString() const {
  return std::to_string(first) + "-" + std::to_string(last);
}

std::optional<PortRange> PortRange::Parse(std::string_view text) {
  const CutResult parts = Cut(text, '-');
  const std::optional<int32_t> first = ParsePort(parts.before);
  const std::optional<int32_t> last = parts.found ? ParsePort(parts.after) : first;
  if (!first || !last || *last < *first) return std::nullopt;
  return PortRange{*first, *last};
}

PortBitmap::PortBitmap(PortRange range)
    : range_(range), bits_(static_cast<size_t>(range.size()), false) {}

PortBitmap::PortBitmap(PortRange range, std::string_view data) : PortBitmap(range) {
  for (size_t i = 0; i < bits_.size(); ++i) {
    if (i / 8 >= data.size()) break;
    const auto byte = static_cast<unsigned char>(data[data.size() - 1 - i / 8]);
    bits_[i] = (byte >> (i % 8) & 1) != 0;
  }
}

int32_t PortBitmap::lower_band() const {
  if (range_.size() < kMinBand) return 0;
  return std::clamp(range_.size() / kBandShare, kMinBand, kMaxBand);
}

std::optional<int32_t> PortBitmap::FindFree(const Random& random) const {
  auto find = [&](size_t begin, size_t end) -> std::optional<int32_t> {
    if (begin >= end) return std::nullopt;
    const size_t start = begin + random(end - begin);
    for (size_t i = start; i < end; ++i) {
      if (!bits_[i]) return range_.first + static_cast<int32_t>(i);
    }
    for (size_t i = begin; i < start; ++i) {
      if (!bits_[i]) return range_.first + static_cast<int32_t>(i);
    }
    return std::nullopt;
  };
  const auto band = static_cast<size_t>(lower_band());
  if (std::optional<int32_t> port = find(band, bits_.size())) return port;
  return find(0, band);
}

std::string PortBitmap::Data() const {
  std::string data((bits_.size() + 7) / 8, '\0');
  for (size_t i = 0; i < bits_.size(); ++i) {
    if (!bits_[i]) continue;
    char& byte = data[data.size() - 1 - i / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 1u << (i % 8));
  }
  data.erase(0, std::min(data.find_first_not_of('\0'), data.size()));
  return data;
}

}  // namespace cox::apiserver
