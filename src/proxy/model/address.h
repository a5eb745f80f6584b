// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cox::proxy {

enum class Family : uint8_t { kIpv4, kIpv6 };

// An IP address, as bytes in network order.
struct Address {
  Family family = Family::kIpv4;
  std::array<uint8_t, 16> bytes{};  // IPv4 uses the first four

  // None if the text is not a valid address.
  static std::optional<Address> Parse(std::string_view text);
  std::string ToString() const;
  size_t size() const { return family == Family::kIpv4 ? 4 : 16; }
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), size()}; }

  auto operator<=>(const Address&) const = default;
};

// "10.0.0.0/8". The bits after the prefix are zero.
struct Prefix {
  Address address;
  uint8_t bits = 0;

  static std::optional<Prefix> Parse(std::string_view text);
  std::string ToString() const { return address.ToString() + "/" + std::to_string(bits); }
  bool Contains(const Address& other) const;
  // The network mask, as long as the address.
  std::string Mask() const;

  auto operator<=>(const Prefix&) const = default;
};

}  // namespace cox::proxy
