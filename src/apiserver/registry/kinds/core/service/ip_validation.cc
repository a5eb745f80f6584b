// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/ip_validation.h"

#include <algorithm>
#include <string>

#include "object/validation/ip.h"

namespace cox::apiserver {

FieldErrorList ValidateNonSpecialIp(std::string_view ip, const FieldPath& path) {
  const std::optional<validation::IpAddress> parsed = validation::ParseIpSloppy(ip);
  if (!parsed) return {FieldError::Invalid(path, ip, "must be a valid IP address")};
  const auto& b = parsed->bytes;
  const bool v4 = parsed->IsIpv4();
  const uint8_t* a4 = b.data() + 12;
  auto zero = [&](size_t from, size_t to) {
    return std::all_of(b.begin() + static_cast<std::ptrdiff_t>(from),
                       b.begin() + static_cast<std::ptrdiff_t>(to),
                       [](uint8_t byte) { return byte == 0; });
  };
  FieldErrorList errors;
  auto refuse = [&](std::string detail) {
    errors.push_back(FieldError::Invalid(path, ip, std::move(detail)));
  };
  if (v4 ? std::all_of(a4, a4 + 4, [](uint8_t byte) { return byte == 0; }) : zero(0, 16)) {
    refuse("may not be unspecified (" + std::string(ip) + ")");
  }
  if (v4 ? a4[0] == 127 : zero(0, 15) && b[15] == 1) {
    refuse("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (v4 ? a4[0] == 169 && a4[1] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80) {
    refuse("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (v4 ? a4[0] == 224 && a4[1] == 0 && a4[2] == 0 : b[0] == 0xff && (b[1] & 0x0f) == 0x02) {
    refuse("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return errors;
}

}  // namespace cox::apiserver
