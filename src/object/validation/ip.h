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
// There are two generations of fields. New fields accept only the canonical form. Legacy fields
// (Service.spec.clusterIP, ...) were parsed leniently for years: leading zeros ("010.1.1.1", which
// some tools read as octal) and IPv4-mapped IPv6 are rejected only for new values, and other
// non-canonical forms of IPv6 are accepted.
namespace cox::validation {

// An address in network byte order; IPv4 as IPv4-mapped IPv6.
struct IpAddress {
  std::array<uint8_t, 16> bytes{};
  bool written_as_ipv6 = false;    // had a colon
  bool has_leading_zeros = false;  // "010.0.0.1", "::00001": rejected by strict parsers

  bool IsIpv4() const;  // also for mapped addresses
  // "10.0.0.1", or RFC 5952: lower case, the longest run of zeros as "::".
  std::string ToString() const;

  bool operator==(const IpAddress& other) const { return bytes == other.bytes; }
};

struct Cidr {
  IpAddress address;  // as given, including the bits beyond the prefix
  int prefix = 0;     // of 32, or of 128 if written as IPv6
  bool has_leading_zeros = false;

  // The same network in canonical form.
  std::string ToString() const;
  // The address without the bits beyond the prefix.
  IpAddress Network() const;
  // False for an address of the other IP family.
  bool Contains(const IpAddress& other) const;
};

// Parses as leniently as legacy fields require: leading zeros are accepted (as decimal) and
// recorded in the result. Zones are rejected.
std::optional<IpAddress> ParseIpSloppy(std::string_view text);
std::optional<Cidr> ParseCidrSloppy(std::string_view text);

// For new fields: canonical form only.
FieldErrorList IsValidIP(const FieldPath& path, std::string_view value);
FieldErrorList IsValidCIDR(const FieldPath& path, std::string_view value);
// An address with its prefix length: bits beyond the prefix are expected.
FieldErrorList IsValidInterfaceAddress(const FieldPath& path, std::string_view value);

// For legacy fields. With `strict`, the ambiguous forms are rejected too, except for values that
// the object already has (`old`).
FieldErrorList IsValidIPForLegacyField(const FieldPath& path, std::string_view value, bool strict,
                                       std::span<const std::string_view> old = {});
FieldErrorList IsValidCIDRForLegacyField(const FieldPath& path, std::string_view value, bool strict,
                                         std::span<const std::string_view> old = {});

// The warnings for a client that wrote a legacy field; none for canonical and for invalid values.
std::vector<std::string> GetWarningsForIP(const FieldPath& path, std::string_view value);
std::vector<std::string> GetWarningsForCIDR(const FieldPath& path, std::string_view value);

}  // namespace cox::validation
