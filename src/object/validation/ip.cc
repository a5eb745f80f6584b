// SPDX-License-Identifier: Apache-2.0
#include "object/validation/ip.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::validation {
namespace {

bool Contains(std::span<const std::string_view> values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string CanonicalForm(std::string_view canonical) {
  return "must be in canonical form (" + Quote(canonical) + ")";
}

// Returns the problem, or an empty string.
std::string IpFault(std::string_view value, bool strict, bool canonical) {
  const std::optional<IpAddress> ip = ParseIpSloppy(value);
  if (!ip) return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  if (strict && ip->has_leading_zeros) return "must not have leading 0s";
  if (strict && ip->written_as_ipv6 && ip->IsIpv4()) {
    return "must not be an IPv4-mapped IPv6 address";
  }
  if (canonical && ip->ToString() != value) return CanonicalForm(ip->ToString());
  return "";
}

std::string CidrFault(std::string_view value, bool strict, bool canonical) {
  const std::optional<Cidr> cidr = ParseCidrSloppy(value);
  if (!cidr) return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  if (!strict) return "";
  if (cidr->has_leading_zeros) return "must not have leading 0s in IP or prefix length";
  if (cidr->address.written_as_ipv6 && cidr->address.IsIpv4()) {
    return "must not have an IPv4-mapped IPv6 address";
  }
  if (cidr->Network() != cidr->address) return "must not have bits set beyond the prefix length";
  if (canonical && cidr->ToString() != value) return CanonicalForm(cidr->ToString());
  return "";
}

FieldErrorList Report(const FieldPath& path, std::string_view value, std::string fault,
                      std::string_view origin) {
  FieldErrorList out;
  if (!fault.empty()) {
    out.push_back(FieldError::Invalid(path, value, std::move(fault)).WithOrigin(origin));
  }
  return out;
}

}  // namespace

FieldErrorList IsValidIP(const FieldPath& path, std::string_view value) {
  return Report(path, value, IpFault(value, true, true), "format=ip-strict");
}

FieldErrorList IsValidCIDR(const FieldPath& path, std::string_view value) {
  return Report(path, value, CidrFault(value, true, true), "");
}

FieldErrorList IsValidInterfaceAddress(const FieldPath& path, std::string_view value) {
  const std::optional<Cidr> cidr = ParseCidrSloppy(value);
  if (!cidr) {
    return Report(path, value,
                  "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)", "");
  }
  int length = cidr->prefix;
  // A mapped address denotes an IPv4 network if its prefix is inside the IPv4 part.
  if (cidr->address.written_as_ipv6 && cidr->address.IsIpv4() && length >= 96) length -= 96;
  const std::string canonical = cidr->address.ToString() + "/" + std::to_string(length);
  return Report(path, value, canonical == value ? "" : CanonicalForm(canonical), "");
}

FieldErrorList IsValidIPForLegacyField(const FieldPath& path, std::string_view value, bool strict,
                                       std::span<const std::string_view> old) {
  if (Contains(old, value)) return {};
  return Report(path, value, IpFault(value, strict, false), "format=ip-sloppy");
}

FieldErrorList IsValidCIDRForLegacyField(const FieldPath& path, std::string_view value, bool strict,
                                         std::span<const std::string_view> old) {
  if (Contains(old, value)) return {};
  return Report(path, value, CidrFault(value, strict, false), "");
}

std::vector<std::string> GetWarningsForIP(const FieldPath& path, std::string_view value) {
  const std::optional<IpAddress> ip = ParseIpSloppy(value);
  if (!ip || ip->ToString() == value) return {};
  const std::string canonical = Quote(ip->ToString());
  if (ip->has_leading_zeros || ip->IsIpv4()) {
    return {path.ToString() + ": non-standard IP address " + Quote(value) + " is invalid: use " +
            canonical};
  }
  return {path.ToString() + ": IPv6 address " + Quote(value) +
          " should be in RFC 5952 canonical format (" + canonical + ")"};
}

std::vector<std::string> GetWarningsForCIDR(const FieldPath& path, std::string_view value) {
  const std::optional<Cidr> cidr = ParseCidrSloppy(value);
  if (!cidr) return {};
  std::vector<std::string> out;
  const std::string field = path.ToString(), canonical = Quote(cidr->ToString());
  const bool host_bits = cidr->Network() != cidr->address;
  if (host_bits) {
    const std::string host =
        cidr->address.ToString() + (cidr->address.written_as_ipv6 ? "/128" : "/32");
    out.push_back(field + ": CIDR value " + Quote(value) +
                  " is ambiguous in this context (should be " + canonical + " or " + Quote(host) +
                  "?)");
  }
  if (cidr->has_leading_zeros || (cidr->address.written_as_ipv6 && cidr->address.IsIpv4())) {
    out.push_back(field + ": non-standard CIDR value " + Quote(value) + " is invalid: use " +
                  canonical);
  } else if (!host_bits && cidr->ToString() != value) {
    out.push_back(field + ": IPv6 CIDR value " + Quote(value) +
                  " should be in RFC 5952 canonical format (" + canonical + ")");
  }
  return out;
}

}  // namespace cox::validation
