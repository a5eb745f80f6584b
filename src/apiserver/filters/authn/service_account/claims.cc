// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/service_account/claims.h"

#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kUserPrefix = "system:serviceaccount:";
constexpr std::string_view kPrivate = "kubernetes.io";
constexpr std::string_view kExtraPrefix = "authentication.kubernetes.io/";

Value ToValue(const ObjectClaim& claim) {
  Value value = Value::MakeObject({{"name", claim.name}});
  if (!claim.uid.empty()) value.as_object()["uid"] = claim.uid;
  return value;
}

std::string Text(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::optional<ObjectClaim> ReadObject(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  return ObjectClaim{.name = Text(*value, "name"), .uid = Text(*value, "uid")};
}

// Seconds, truncated. None for values out of range.
std::optional<int64_t> ReadTime(const Value& object, std::string_view name) {
  constexpr double kFarthest = 1e15;
  const Value* value = object.Find(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double seconds = value->as_number();
  if (!(seconds >= 0 && seconds < kFarthest)) return std::nullopt;
  return value->is_int() ? value->as_int() : static_cast<int64_t>(seconds);
}

// A single audience may be a string instead of a list.
std::optional<std::vector<std::string>> ReadAudiences(const Value* value) {
  std::vector<std::string> audiences;
  if (value == nullptr) return audiences;
  if (value->is_string()) return std::vector<std::string>{std::string(value->as_string())};
  if (!value->is_array()) return std::nullopt;
  for (const Value& item : value->as_array()) {
    if (!item.is_string()) return std::nullopt;
    audiences.emplace_back(item.as_string());
  }
  return audiences;
}

}  // namespace

Value ToValue(const ServiceAccountClaims& claims) {
  Value bound =
      Value::MakeObject({{"namespace", claims.ns}, {"serviceaccount", ToValue(claims.account)}});
  Value::Object& members = bound.as_object();
  if (claims.pod) members["pod"] = ToValue(*claims.pod);
  if (claims.secret) members["secret"] = ToValue(*claims.secret);
  if (claims.node) members["node"] = ToValue(*claims.node);
  if (claims.warn_after) members["warnafter"] = *claims.warn_after;
  Value::Array audiences(claims.audiences.begin(), claims.audiences.end());
  return Value::MakeObject({{"aud", std::move(audiences)},
                            {"exp", claims.expires},
                            {"iat", claims.issued_at},
                            {"nbf", claims.not_before},
                            {"iss", claims.issuer},
                            {"jti", claims.id},
                            {"sub", ServiceAccountUser(claims.ns, claims.account.name)},
                            {kPrivate, std::move(bound)}});
}

Result<ServiceAccountClaims> ReadClaims(const Value& claims) {
  const Status wrong(Reason::kUnauthorized, "service account token claims are not understood");
  ServiceAccountClaims read;
  const Value* bound = claims.Find(kPrivate);
  if (bound == nullptr || !bound->is_object()) return wrong;
  std::optional<std::vector<std::string>> audiences = ReadAudiences(claims.Find("aud"));
  const std::optional<int64_t> expires = ReadTime(claims, "exp");
  std::optional<ObjectClaim> account = ReadObject(*bound, "serviceaccount");
  if (!audiences || !expires || !account) return wrong;
  read.issuer = Text(claims, "iss");
  read.audiences = std::move(*audiences);
  read.id = Text(claims, "jti");
  read.expires = *expires;
  read.issued_at = ReadTime(claims, "iat").value_or(0);
  read.not_before = ReadTime(claims, "nbf").value_or(0);
  read.ns = Text(*bound, "namespace");
  read.account = std::move(*account);
  read.pod = ReadObject(*bound, "pod");
  read.secret = ReadObject(*bound, "secret");
  read.node = ReadObject(*bound, "node");
  read.warn_after = ReadTime(*bound, "warnafter");
  // The subject and the account must match.
  if (Text(claims, "sub") != ServiceAccountUser(read.ns, read.account.name)) return wrong;
  return read;
}

std::string ServiceAccountUser(std::string_view ns, std::string_view name) {
  return std::string(kUserPrefix).append(ns).append(":").append(name);
}

std::optional<ServiceAccountName> ParseServiceAccountUser(std::string_view user) {
  if (!user.starts_with(kUserPrefix)) return std::nullopt;
  user.remove_prefix(kUserPrefix.size());
  const size_t colon = user.find(':');
  if (colon == user.npos) return std::nullopt;
  const ServiceAccountName parts{.ns = user.substr(0, colon), .name = user.substr(colon + 1)};
  const bool valid = validation::NameIsDNSLabel(parts.ns, /*prefix=*/false).empty() &&
                     validation::NameIsDNSSubdomain(parts.name, /*prefix=*/false).empty();
  return valid ? std::optional(parts) : std::nullopt;
}

std::vector<std::string> ServiceAccountGroups(std::string_view ns) {
  return {"system:serviceaccounts", "system:serviceaccounts:" + std::string(ns)};
}

UserInfo UserOf(const ServiceAccountClaims& claims) {
  UserInfo user{.name = ServiceAccountUser(claims.ns, claims.account.name),
                .uid = claims.account.uid,
                .groups = ServiceAccountGroups(claims.ns),
                .extra = {}};
  auto put = [&](std::string_view name, std::string value) {
    if (!value.empty()) user.extra[std::string(kExtraPrefix).append(name)] = {std::move(value)};
  };
  if (!claims.id.empty()) put("credential-id", "JTI=" + claims.id);
  if (claims.pod) {
    put("pod-name", claims.pod->name);
    put("pod-uid", claims.pod->uid);
  }
  if (claims.node) {
    put("node-name", claims.node->name);
    put("node-uid", claims.node->uid);
  }
  return user;
}

}  // namespace cox::apiserver
