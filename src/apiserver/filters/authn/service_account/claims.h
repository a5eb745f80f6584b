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

// An object in a token: the token is valid only while the object with that uid exists.
struct ObjectClaim {
  std::string name;
  std::string uid;
};

// The claims of a service account token. Times are in seconds since 1970.
struct ServiceAccountClaims {
  std::string issuer;
  std::vector<std::string> audiences;
  std::string id;  // jti
  int64_t expires = 0;
  int64_t issued_at = 0;
  int64_t not_before = 0;

  std::string ns;
  ObjectClaim account;
  // The token is bound to at most one of pod, secret and node. With a pod, `node` is only the node
  // of that Pod.
  std::optional<ObjectClaim> pod;
  std::optional<ObjectClaim> secret;
  std::optional<ObjectClaim> node;
  std::optional<int64_t> warn_after;
};

Value ToValue(const ServiceAccountClaims& claims);
// Errors: Unauthorized for claims that are not a service account's.
Result<ServiceAccountClaims> ReadClaims(const Value& claims);

// "system:serviceaccount:<namespace>:<name>".
std::string ServiceAccountUser(std::string_view ns, std::string_view name);
// The namespace and name in such a user name; none for other user names.
struct ServiceAccountName {
  std::string_view ns, name;
};
std::optional<ServiceAccountName> ParseServiceAccountUser(std::string_view user);
// The groups of every service account in the namespace.
std::vector<std::string> ServiceAccountGroups(std::string_view ns);

// The user of a token with these claims.
UserInfo UserOf(const ServiceAccountClaims& claims);

}  // namespace cox::apiserver
