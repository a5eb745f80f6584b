// SPDX-License-Identifier: Apache-2.0
#include "proxy/model/address.h"

#include <arpa/inet.h>

#include <charconv>

#include "base/strings.h"

namespace cox::proxy {

std::optional<Address> Address::Parse(std::string_view text) {
  const std::string copy(text);
  Address address;
  address.family = text.find(':') == std::string_view::npos ? Family::kIpv4 : Family::kIpv6;
  const int family = address.family == Family::kIpv4 ? AF_INET : AF_INET6;
  if (inet_pton(family, copy.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::string Address::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family == Family::kIpv4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

std::optional<Prefix> Prefix::Parse(std::string_view text) {
  const auto [before, after, found] = Cut(TrimSpace(text), '/');
  const std::optional<Address> address = Address::Parse(before);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(after.data(), after.data() + after.size(), bits);
  if (!address || !found || error != std::errc() || end != after.data() + after.size() ||
      bits > address->size() * 8) {
    return std::nullopt;
  }
  Prefix prefix{.address = *address, .bits = static_cast<uint8_t>(bits)};
  const std::string mask = prefix.Mask();
  for (size_t i = 0; i < mask.size(); ++i) {
    prefix.address.bytes[i] &= static_cast<uint8_t>(mask[i]);
  }
  return prefix;
}

bool Prefix::Contains(const Address& other) const {
  if (other.family != address.family) return false;
  const std::string mask = Mask();
  for (size_t i = 0; i < mask.size(); ++i) {
    if ((other.bytes[i] & static_cast<uint8_t>(mask[i])) != address.bytes[i]) return false;
  }
  return true;
}

std::string Prefix::Mask() const {
  std::string mask(address.size(), '\0');
  for (size_t i = 0; i < bits; ++i) mask[i / 8] = static_cast<char>(mask[i / 8] | 0x80 >> i % 8);
  return mask;
}

}  // namespace cox::proxy
