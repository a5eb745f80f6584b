// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "object/validation/field_error.h"

// IP addresses and CIDRs in API fields.
//
// Two generations of fields exist. New ones take only the canonical form. Legacy ones
// (Service.spec.clusterIP, ...) were parsed sloppily for years: leading zeros ("010.1.1.1", which
// some tools read as octal) and IPv4-mapped IPv6 are refused for new values only, other spellings
// of IPv6 are let through.
namespace cox::validation {

// An address in network order; IPv4 as IPv4-mapped IPv6.
struct IpAddress {
  std::array<uint8_t, 16> bytes{};
  bool written_as_ipv6 = false;    // had a colon
  bool has_leading_zeros = false;  // "010.0.0.1", "::00001": no strict parser takes it

  bool IsIpv4() const;  // also the mapped ones
  // "10.0.0.1", or RFC 5952: lower case, the longest run of zeros as "::".
  std::string ToString() const;

  bool operator==(const IpAddress& other) const { return bytes == other.bytes; }
};

struct Cidr {
  IpAddress address;  // as written, with the bits beyond the prefix
  int prefix = 0;     // of 32, or of 128 when written as IPv6
  bool has_leading_zeros = false;

  // The same network in canonical form.
  std::string ToString() const;
  // The address without the bits beyond the prefix.
  IpAddress Network() const;
};

// As sloppy as legacy fields need: leading zeros are taken (as decimal) and remembered. No zones.
std::optional<IpAddress> ParseIpSloppy(std::string_view text);
std::optional<Cidr> ParseCidrSloppy(std::string_view text);

// For new fields: canonical form only.
FieldErrorList IsValidIP(const FieldPath& path, std::string_view value);
FieldErrorList IsValidCIDR(const FieldPath& path, std::string_view value);
// An address with the length of its network: bits beyond the prefix are wanted.
FieldErrorList IsValidInterfaceAddress(const FieldPath& path, std::string_view value);

// For legacy fields. With `strict` the dangerous spellings are refused too, except for values that
// the object has already (`old`).
FieldErrorList IsValidIPForLegacyField(const FieldPath& path, std::string_view value, bool strict,
                                       std::span<const std::string_view> old = {});
FieldErrorList IsValidCIDRForLegacyField(const FieldPath& path, std::string_view value, bool strict,
                                         std::span<const std::string_view> old = {});

// What a client that wrote a legacy field should be told; empty for canonical values and for no
// values.
std::vector<std::string> GetWarningsForIP(const FieldPath& path, std::string_view value);
std::vector<std::string> GetWarningsForCIDR(const FieldPath& path, std::string_view value);

}  // namespace cox::validation
