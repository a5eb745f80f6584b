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

// Acting as somebody else: the headers Impersonate-User, -Group, -Uid and -Extra-*.
//
// There are two ways to be allowed. Constrained: the verb `impersonate-on:user-info:<verb>` on what
// the request does, with `impersonate:user-info` on every part of the wanted identity (for service
// accounts `serviceaccount`, for nodes `arbitrary-node`, in place of `user-info`). And the old one:
// `impersonate` on every part, whatever the request then does.
// Threads: all methods may be called concurrently; nothing blocks.
class Impersonation {
 public:
  // `authorizer` outlives it.
  explicit Impersonation(const Authorizer& authorizer) : authorizer_(authorizer) {}

  // The user that `request` is made as: `user`, unless headers say otherwise and it may. BadRequest
  // for headers that make no user, Forbidden.
  Result<UserInfo> Apply(const net::Request& request, const RequestInfo& info,
                         const UserInfo& user) const;

 private:
  Status Constrained(const UserInfo& user, const UserInfo& wanted, const RequestInfo& info) const;
  Status Plain(const UserInfo& user, const UserInfo& wanted) const;
  Status Ask(const UserInfo& user, const RequestInfo& ask) const;

  const Authorizer& authorizer_;
  // Who last got through the old way is told why in its words. Bounded.
  mutable Mutex mu_;
  mutable std::unordered_set<std::string> plain_users_ COX_GUARDED_BY(mu_);
};

// Removes the headers: nobody behind the chain shall take them for its own.
void RemoveImpersonationHeaders(net::Headers& headers);

}  // namespace cox::apiserver
