// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authn/authenticator.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

bool IsBearer(std::string_view scheme) {
  constexpr std::string_view kScheme = "bearer";
  return std::equal(scheme.begin(), scheme.end(), kScheme.begin(), kScheme.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

// "Bearer" in any case, one space, the token; what follows another space is not looked at.
struct BearerHeader {
  std::string_view token;
  bool extra_space = false;
};
BearerHeader ReadHeader(const net::Request& request) {
  const std::optional<std::string_view> header = request.headers.Get("authorization");
  if (!header) return {};
  const CutResult scheme = Cut(TrimSpace(*header), ' ');
  if (!scheme.found || !IsBearer(scheme.before)) return {};
  const CutResult token = Cut(scheme.after, ' ');
  return {.token = token.before, .extra_space = token.before.empty() && token.found};
}

void AddAuthenticated(UserInfo& user) {
  if (!user.InGroup(kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
}

std::vector<std::string> Intersection(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b) {
  std::vector<std::string> both;
  for (const std::string& item : a) {
    if (std::find(b.begin(), b.end(), item) != b.end()) both.push_back(item);
  }
  return both;
}

}  // namespace

std::optional<std::string_view> BearerToken(const net::Request& request) {
  const BearerHeader header = ReadHeader(request);
  return header.token.empty() ? std::nullopt : std::optional(header.token);
}

std::string_view BearerTokenWarning(const net::Request& request) {
  return ReadHeader(request).extra_space ? "the provided Authorization header contains extra space "
                                           "before the bearer token, and is ignored"
                                         : "";
}

Result<UserInfo> Authenticator::Authenticate(const net::Request& request) const {
  const Status unauthorized(Reason::kUnauthorized, "Unauthorized");
  const std::optional<std::string_view> token = BearerToken(request);
  for (const auto& method : methods_) {
    Result<std::optional<UserInfo>> found = method->Try(request);
    if (!found.ok()) return unauthorized;
    if (*found) {
      AddAuthenticated(**found);
      return std::move(**found);
    }
    if (!token) continue;
    Result<std::optional<AuthMethod::TokenIdentity>> known =
        method->TryToken(*token, api_audiences_);
    if (!known.ok() || !*known) continue;  // another method may know it
    AddAuthenticated((*known)->user);
    return std::move((*known)->user);
  }
  // A token that nobody knows is an error, not anonymity.
  if (token || !anonymous_) return unauthorized;
  return UserInfo{.name = std::string(kAnonymousUser),
                  .uid = {},
                  .groups = {std::string(kUnauthenticatedGroup)},
                  .extra = {}};
}

Authenticator::TokenVerdict Authenticator::ReviewToken(std::string_view token,
                                                       std::vector<std::string> audiences) const {
  if (audiences.empty()) audiences = api_audiences_;
  TokenVerdict verdict;
  verdict.error = "invalid bearer token";
  for (const auto& method : methods_) {
    Result<std::optional<AuthMethod::TokenIdentity>> known = method->TryToken(token, audiences);
    if (!known.ok()) {
      verdict.error = "[invalid bearer token, " + known.status().message() + "]";
      continue;
    }
    if (!*known) continue;
    // Tokens that do not say for whom they are, are for us.
    verdict.audiences = (*known)->audiences ? std::move(*(*known)->audiences)
                                            : Intersection(audiences, api_audiences_);
    if (verdict.audiences.empty() && !audiences.empty()) continue;
    verdict.user = std::move((*known)->user);
    AddAuthenticated(verdict.user);
    verdict.authenticated = true;
    verdict.error.clear();
    return verdict;
  }
  return verdict;
}

}  // namespace cox::apiserver
