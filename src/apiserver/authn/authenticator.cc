// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authn/authenticator.h"

namespace cox::apiserver {

std::optional<std::string_view> BearerToken(const net::Request& request) {
  std::optional<std::string_view> header = request.headers.Get("authorization");
  if (!header) return std::nullopt;
  // "Bearer" in any case, one or more spaces, the token.
  constexpr std::string_view kScheme = "bearer";
  if (header->size() <= kScheme.size()) return std::nullopt;
  for (size_t i = 0; i < kScheme.size(); ++i) {
    if (((*header)[i] | 0x20) != kScheme[i]) return std::nullopt;
  }
  std::string_view token = header->substr(kScheme.size());
  if (token.empty() || token.front() != ' ') return std::nullopt;
  while (!token.empty() && token.front() == ' ') token.remove_prefix(1);
  while (!token.empty() && token.back() == ' ') token.remove_suffix(1);
  if (token.empty()) return std::nullopt;
  return token;
}

Result<UserInfo> Authenticator::Authenticate(const net::Request& request) const {
  const Status unauthorized(Reason::kUnauthorized, "Unauthorized");
  for (const auto& method : methods_) {
    Result<std::optional<UserInfo>> found = method->Try(request);
    if (!found.ok()) return unauthorized;
    if (!*found) continue;
    UserInfo user = std::move(**found);
    if (!user.InGroup(kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
    return user;
  }
  // A token that nobody knows is an error, not anonymity.
  if (BearerToken(request) || !anonymous_) return unauthorized;
  return UserInfo{.name = std::string(kAnonymousUser),
                  .uid = {},
                  .groups = {std::string(kUnauthenticatedGroup)},
                  .extra = {}};
}

}  // namespace cox::apiserver
