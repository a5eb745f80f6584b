// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "object/validation/ip.h"

namespace cox::validation {
namespace {

constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Consumes leading digits. Nullopt if there are none or the number exceeds `max`.
std::optional<int> TakeNumber(std::string_view& rest, int base, int max, size_t* digits) {
  int value = 0;
  size_t n = 0;
  for (; n < rest.size() && DigitValue(rest[n]) < base; ++n) {
    value = value * base + DigitValue(rest[n]);
    if (value > max) return std::nullopt;
  }
  if (n == 0) return std::nullopt;
  *digits = n;
  rest.remove_prefix(n);
  return value;
}

// Parses four decimal bytes to out[0..3].
bool ParseIpv4(std::string_view text, uint8_t* out, bool* leading_zeros) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0) {
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
    }
    const bool zero = text.starts_with('0');
    size_t digits = 0;
    std::optional<int> byte = TakeNumber(text, 10, 255, &digits);
    if (!byte) return false;
    if (zero && digits > 1) *leading_zeros = true;
    out[i] = static_cast<uint8_t>(*byte);
  }
  return text.empty();
}

bool ParseIpv6(std::string_view text, IpAddress& ip) {
  size_t at = 0;                   // bytes written
  std::optional<size_t> ellipsis;  // position of "::"
  if (text.starts_with("::")) {
    ellipsis = 0;
    text.remove_prefix(2);
    if (text.empty()) return true;
  }
  while (at < 16) {
    const std::string_view start = text;
    size_t digits = 0;
    std::optional<int> group = TakeNumber(text, 16, 0xffff, &digits);
    if (start.find('.') < start.find(':')) {
      // The rest is an embedded IPv4 address, which must be at the end.
      if ((!ellipsis && at != 12) || at + 4 > 16) return false;
      if (!ParseIpv4(start, &ip.bytes[at], &ip.has_leading_zeros)) return false;
      text = {};
      at += 4;
      break;
    }
    if (!group) return false;
    if (digits > 4) ip.has_leading_zeros = true;
    ip.bytes[at] = static_cast<uint8_t>(*group >> 8);
    ip.bytes[at + 1] = static_cast<uint8_t>(*group);
    at += 2;
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return false;
    text.remove_prefix(1);
    if (text[0] == ':') {
      if (ellipsis) return false;
      ellipsis = at;
      text.remove_prefix(1);
      if (text.empty()) break;
    }
  }
  if (!text.empty()) return false;
  if (at == 16) return !ellipsis;  // "::" replaces at least one group
  if (!ellipsis) return false;
  const auto begin = ip.bytes.begin() + static_cast<ptrdiff_t>(*ellipsis);
  const auto end = ip.bytes.begin() + static_cast<ptrdiff_t>(at);
  std::move_backward(begin, end, ip.bytes.end());
  std::fill_n(begin, 16 - at, uint8_t{0});
  return true;
}

std::string Ipv6String(const std::array<uint8_t, 16>& bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<int, 8> groups{};
  for (size_t i = 0; i < 8; ++i) groups[i] = bytes[2 * i] << 8 | bytes[2 * i + 1];
  // The first longest run of at least two zero groups.
  size_t run = 8, length = 1;
  for (size_t i = 0; i < 8; ++i) {
    size_t n = 0;
    while (i + n < 8 && groups[i + n] == 0) ++n;
    if (n > length) {
      run = i;
      length = n;
    }
  }
  std::string out;
  for (size_t i = 0; i < 8; ++i) {
    if (i == run) {
      out += "::";
      i += length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    bool started = false;
    for (int shift = 12; shift >= 0; shift -= 4) {
      const int digit = (groups[i] >> shift) & 15;
      started = started || digit != 0 || shift == 0;
      if (started) out += kHex[static_cast<size_t>(digit)];
    }
  }
  return out;
}

}  // namespace

bool IpAddress::IsIpv4() const {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin());
}

std::string IpAddress::ToString() const {
  if (!IsIpv4()) return Ipv6String(bytes);
  std::string out = std::to_string(bytes[12]);
  for (size_t i = 13; i < 16; ++i) out.append(".").append(std::to_string(bytes[i]));
  return out;
}

std::optional<IpAddress> ParseIpSloppy(std::string_view text) {
  IpAddress ip;
  if (text.find(':') != std::string_view::npos) {
    ip.written_as_ipv6 = true;
    if (!ParseIpv6(text, ip)) return std::nullopt;
    return ip;
  }
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), ip.bytes.begin());
  if (!ParseIpv4(text, &ip.bytes[12], &ip.has_leading_zeros)) return std::nullopt;
  return ip;
}

std::optional<Cidr> ParseCidrSloppy(std::string_view text) {
  const CutResult cut = Cut(text, '/');
  std::optional<IpAddress> ip = ParseIpSloppy(cut.before);
  if (!cut.found || !ip) return std::nullopt;
  std::string_view digits = cut.after;
  size_t count = 0;
  std::optional<int> prefix = TakeNumber(digits, 10, ip->written_as_ipv6 ? 128 : 32, &count);
  if (!prefix || !digits.empty()) return std::nullopt;
  return Cidr{.address = *ip,
              .prefix = *prefix,
              .has_leading_zeros = ip->has_leading_zeros || (count > 1 && cut.after[0] == '0')};
}

IpAddress Cidr::Network() const {
  IpAddress network = address;
  const int fixed = address.written_as_ipv6 ? prefix : prefix + 96;
  for (int bit = fixed; bit < 128; ++bit) {
    network.bytes[static_cast<size_t>(bit / 8)] &= static_cast<uint8_t>(~(0x80 >> (bit % 8)));
  }
  return network;
}

bool Cidr::Contains(const IpAddress& other) const {
  if (address.IsIpv4() != other.IsIpv4()) return false;
  Cidr around = *this;
  around.address.bytes = other.bytes;
  return around.Network() == Network();
}

std::string Cidr::ToString() const {
  const IpAddress network = Network();
  const int length = network.IsIpv4() && address.written_as_ipv6 ? prefix - 96 : prefix;
  return network.ToString() + "/" + std::to_string(length);
}

}  // namespace cox::validation
