// SPDX-License-Identifier: Apache-2.0
// Parses any text as a service account token; valid claims can be written and parsed again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apiserver/filters/authn/jose/jwt.h"
#include "apiserver/filters/authn/service_account/claims.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cox::apiserver;  // NOLINT: short
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const std::optional<Jwt> jwt = ParseJwt(text)) {
    Check(size <= kMaxTokenBytes && jwt->claims.is_object());
    Check(text.starts_with(jwt->signed_part) && text[jwt->signed_part.size()] == '.');
    if (const auto claims = ReadClaims(jwt->claims); claims.ok()) {
      const auto again = ReadClaims(ToValue(*claims));
      Check(again.ok() && again->expires == claims->expires && again->ns == claims->ns &&
            again->audiences == claims->audiences && again->account.uid == claims->account.uid);
      Check(UserOf(*claims).name == ServiceAccountUser(claims->ns, claims->account.name));
    }
  }
  (void)ParseVerificationKeys(text);
  (void)ParseServiceAccountUser(text);
  return 0;
}
