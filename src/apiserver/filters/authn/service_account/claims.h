// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request/user.h"
#include "base/result.h"
#include "object/type/value.h"

namespace cox::apiserver {

// An object that a token names: the token is good only while there is one of that uid.
struct ObjectClaim {
  std::string name;
  std::string uid;
};

// What a service account token says. Times are seconds since 1970.
struct ServiceAccountClaims {
  std::string issuer;
  std::vector<std::string> audiences;
  std::string id;  // jti
  int64_t expires = 0;
  int64_t issued_at = 0;
  int64_t not_before = 0;

  std::string ns;
  ObjectClaim account;
  // At most one of pod, secret and node is what the token is bound to; with a pod, `node` only says
  // where that runs.
  std::optional<ObjectClaim> pod;
  std::optional<ObjectClaim> secret;
  std::optional<ObjectClaim> node;
  std::optional<int64_t> warn_after;
};

Value ToValue(const ServiceAccountClaims& claims);
// Unauthorized for claims that are not those of a service account.
Result<ServiceAccountClaims> ReadClaims(const Value& claims);

// "system:serviceaccount:<namespace>:<name>".
std::string ServiceAccountUser(std::string_view ns, std::string_view name);
// The namespace and name in such a user name; none if it is no such.
struct ServiceAccountName {
  std::string_view ns, name;
};
std::optional<ServiceAccountName> ParseServiceAccountUser(std::string_view user);
// The groups every service account is in.
std::vector<std::string> ServiceAccountGroups(std::string_view ns);

// Who shows a token with these claims.
UserInfo UserOf(const ServiceAccountClaims& claims);

}  // namespace cox::apiserver
