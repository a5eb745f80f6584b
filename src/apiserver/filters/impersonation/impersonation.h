// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>

#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/http.h"

namespace cox::apiserver {

// User impersonation: the headers Impersonate-User, -Group, -Uid and -Extra-*.
//
// There are two modes. Constrained: the verb `impersonate-on:user-info:<verb>` on the target of the
// request, with `impersonate:user-info` on every part of the impersonated identity
// (`serviceaccount` for service accounts and `arbitrary-node` for nodes, instead of `user-info`).
// Legacy: `impersonate` on every part, for any request.
// Threads: All methods may be called concurrently; they do not block themselves, but the authorizer
//   may.
class Impersonation {
 public:
  // `authorizer` must outlive it.
  explicit Impersonation(const Authorizer& authorizer) : authorizer_(authorizer) {}

  // The effective user of `request`: `user`, or the impersonated user if there are headers and they
  // are authorized. Errors: BadRequest for headers without a user name, Forbidden.
  Result<UserInfo> Apply(const net::Request& request, const RequestInfo& info,
                         const UserInfo& user) const;

 private:
  Status Constrained(const UserInfo& user, const UserInfo& wanted, const RequestInfo& info) const;
  Status Plain(const UserInfo& user, const UserInfo& wanted) const;
  Status CheckAllowed(const UserInfo& user, const RequestInfo& attributes) const;

  const Authorizer& authorizer_;
  // Users who have used the legacy mode get its error message. Bounded.
  mutable Mutex mu_;
  mutable std::unordered_set<std::string> plain_users_ COX_GUARDED_BY(mu_);
};

// Removes the headers, so that endpoints and forwarded requests do not contain them.
void RemoveImpersonationHeaders(net::Headers& headers);

}  // namespace cox::apiserver
