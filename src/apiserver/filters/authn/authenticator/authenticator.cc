// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/authenticator/authenticator.h"

#include <algorithm>

#include "apiserver/filters/authn/authenticator/authn_metrics.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

// The default front proxy headers.
constexpr std::string_view kProxyHeaders[] = {"x-remote-user", "x-remote-uid", "x-remote-group"};
constexpr std::string_view kProxyExtraPrefix = "x-remote-extra-";

bool IsBearer(std::string_view scheme) {
  constexpr std::string_view kScheme = "bearer";
  return std::equal(scheme.begin(), scheme.end(), kScheme.begin(), kScheme.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

// "Bearer" in any case, one space, the token; anything after another space is ignored.
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

Authenticator::Authenticator(std::vector<std::unique_ptr<const AuthMethod>> methods, bool anonymous,
                             std::vector<std::string> api_audiences)
    : Authenticator(Options{.methods = std::move(methods),
                            .anonymous = [anonymous](std::string_view) { return anonymous; },
                            .api_audiences = std::move(api_audiences)}) {}

Result<UserInfo> Authenticator::Authenticate(const net::Request& request) const {
  return Measured(nullptr, request);
}

Result<UserInfo> Authenticator::Await(const Context& ctx, const net::Request& request) const {
  return Measured(&ctx, request);
}

Result<UserInfo> Authenticator::Measured(const Context* ctx, const net::Request& request) const {
  if (options_.metrics == nullptr) return Find(ctx, request);
  const Clock::SteadyTime begin = options_.clock->Monotonic();
  Result<UserInfo> user = Find(ctx, request);
  // A request that must wait is counted by the later Await.
  if (ctx == nullptr && !user.ok() && AuthMethod::IsWouldWait(user.status())) return user;
  options_.metrics->Attempted(user, options_.clock->Monotonic() - begin);
  return user;
}

Result<UserInfo> Authenticator::Find(const Context* ctx, const net::Request& request) const {
  const std::optional<std::string_view> token = BearerToken(request);
  // An invalid credential does not prevent authentication by another one, but excludes anonymous
  // access.
  bool refused = token.has_value();
  bool would_wait = false;
  for (const auto& method : options_.methods) {
    Result<std::optional<UserInfo>> found = method->Try(request);
    refused = refused || !found.ok();
    if (found.ok() && *found) {
      AddAuthenticated(**found);
      return std::move(**found);
    }
    if (!token) continue;
    AuthMethod::TokenResult known = ctx == nullptr
                                        ? method->TryToken(*token, options_.api_audiences)
                                        : method->AwaitToken(*ctx, *token, options_.api_audiences);
    if (!known.ok()) would_wait = would_wait || AuthMethod::IsWouldWait(known.status());
    if (!known.ok() || !*known) continue;  // another method may accept it
    AddAuthenticated((*known)->user);
    return std::move((*known)->user);
  }
  if (would_wait && ctx == nullptr) return AuthMethod::WouldWait();
  if (refused || !options_.anonymous || !options_.anonymous(request.path())) {
    return Status(Reason::kUnauthorized, "Unauthorized");
  }
  return UserInfo{.name = std::string(kAnonymousUser),
                  .uid = {},
                  .groups = {std::string(kUnauthenticatedGroup)},
                  .extra = {}};
}

void Authenticator::RemoveCredentials(net::Headers& headers) const {
  headers.Remove("authorization");
  // Clients other than front proxies may send these headers too. They must not take effect in
  // forwarded requests.
  const auto is_proxys = [this](const std::string& name) {
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    return std::ranges::find(kProxyHeaders, name) != std::end(kProxyHeaders) ||
           begins(kProxyExtraPrefix) ||
           std::ranges::find(options_.proxy_headers, name) != options_.proxy_headers.end() ||
           std::ranges::any_of(options_.proxy_prefixes, begins);
  };
  std::vector<std::string> gone;
  for (const auto& [name, value] : headers) {
    if (is_proxys(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) headers.Remove(name);
}

Authenticator::TokenReviewResult Authenticator::ReviewToken(
    const Context& ctx, std::string_view token, std::vector<std::string> audiences) const {
  if (audiences.empty()) audiences = options_.api_audiences;
  TokenReviewResult verdict;
  verdict.error = "invalid bearer token";
  for (const auto& method : options_.methods) {
    AuthMethod::TokenResult known = method->AwaitToken(ctx, token, audiences);
    if (!known.ok()) {
      verdict.error = "[invalid bearer token, " + known.status().message() + "]";
      continue;
    }
    if (!*known) continue;
    // Tokens without audiences are for the API audiences.
    verdict.audiences = (*known)->audiences ? std::move(*(*known)->audiences)
                                            : Intersection(audiences, options_.api_audiences);
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
