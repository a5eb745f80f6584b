// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/oidc/token_claims.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";
// Tolerated clock skew of issuers, in seconds.
constexpr int64_t kNotBeforeLeeway = 300;
constexpr size_t kMaxGroups = 10'000;

Status Refused(std::string why) { return Status(Reason::kUnauthorized, "oidc: " + why); }

int64_t TimeOf(const Value& claims, std::string_view name) {
  const Value* value = claims.Find(name);
  if (value == nullptr) return 0;
  if (value->is_int()) return value->as_int();
  // Some issuers write fractional seconds.
  if (!value->is_double() || !(std::abs(value->as_double()) < 1e15)) return 0;
  return static_cast<int64_t>(value->as_double());
}

// The strings of a claim that is a string or a list of strings; none for other types.
std::optional<std::vector<std::string>> Strings(const Value& value) {
  if (value.is_string()) return std::vector<std::string>{std::string(value.as_string())};
  if (!value.is_array() || value.as_array().size() > kMaxGroups) return std::nullopt;
  std::vector<std::string> strings;
  for (const Value& item : value.as_array()) {
    if (!item.is_string()) return std::nullopt;
    strings.emplace_back(item.as_string());
  }
  return strings;
}

Result<std::string> RequiredText(const Value& claims, const std::string& name) {
  const Value* value = claims.Find(name);
  if (value == nullptr || value->is_null()) return Refused("claim " + Quote(name) + " not present");
  if (!value->is_string()) return Refused("claim " + Quote(name) + " is not a string");
  return std::string(value->as_string());
}

Status CheckAudience(const JwtIssuerConfig& issuer, const Value& claims) {
  const Value* value = claims.Find("aud");
  const std::optional<std::vector<std::string>> audiences =
      value == nullptr ? std::nullopt : Strings(*value);
  if (audiences) {
    for (const std::string& audience : *audiences) {
      if (std::ranges::find(issuer.audiences, audience) != issuer.audiences.end()) return {};
    }
  }
  return Refused("verify token: oidc: expected audience in " + Join(issuer.audiences, ", "));
}

Status CheckTimes(const Value& claims, int64_t now) {
  const int64_t expires = ExpiryOf(claims);
  if (expires <= now) return Refused("verify token: oidc: token is expired");
  if (TimeOf(claims, "nbf") > now + kNotBeforeLeeway) {
    return Refused("verify token: oidc: current time before the nbf (not before) time");
  }
  return {};
}

Result<std::string> UsernameOf(const JwtIssuerConfig& issuer, const Value& claims) {
  COX_ASSIGN_OR_RETURN(std::string name, RequiredText(claims, issuer.username.claim));
  if (name.empty()) return Refused("claim " + Quote(issuer.username.claim) + " is empty");
  // Unverified addresses must not authenticate.
  if (issuer.username.claim == "email") {
    const Value* verified = claims.Find("email_verified");
    if (verified != nullptr && !(verified->is_bool() && verified->as_bool())) {
      return Refused("email not verified");
    }
  }
  return issuer.username.prefix + name;
}

Result<std::vector<std::string>> GroupsOf(const JwtIssuerConfig& issuer, const Value& claims) {
  std::vector<std::string> groups;
  const Value* value = issuer.groups ? claims.Find(issuer.groups->claim) : nullptr;
  if (value == nullptr || value->is_null()) return groups;
  std::optional<std::vector<std::string>> names = Strings(*value);
  if (!names) {
    return Refused("parse groups claim " + Quote(issuer.groups->claim) +
                   ": not a string or a list of strings");
  }
  for (const std::string& name : *names) groups.push_back(issuer.groups->prefix + name);
  return groups;
}

}  // namespace

int64_t ExpiryOf(const Value& claims) { return TimeOf(claims, "exp"); }

Result<UserInfo> UserOfClaims(const JwtIssuerConfig& issuer, const Value& claims,
                              Clock::WallTime now) {
  COX_RETURN_IF_ERROR(CheckAudience(issuer, claims));
  COX_RETURN_IF_ERROR(CheckTimes(
      claims, std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count()));
  UserInfo user;
  COX_ASSIGN_OR_RETURN(user.name, UsernameOf(issuer, claims));
  COX_ASSIGN_OR_RETURN(user.groups, GroupsOf(issuer, claims));
  for (const auto& [name, wanted] : issuer.required_claims) {
    COX_ASSIGN_OR_RETURN(const std::string value, RequiredText(claims, name));
    if (value != wanted) return Refused("required claim " + Quote(name) + " has another value");
  }
  if (!issuer.uid_claim.empty()) {
    COX_ASSIGN_OR_RETURN(user.uid, RequiredText(claims, issuer.uid_claim));
  }
  const Value* id = claims.Find("jti");
  if (id != nullptr && id->is_string() && !id->as_string().empty()) {
    user.extra[std::string(kCredentialId)] = {"JTI=" + std::string(id->as_string())};
  }
  return user;
}

}  // namespace cox::apiserver
