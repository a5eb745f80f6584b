// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apiserver/request_info.h"
#include "apiserver/user.h"
#include "base/status.h"

namespace cox::apiserver {

struct Decision {
  bool allowed = false;
  std::string reason;  // for people, why not
};

// Decides whether a user may do what a request asks.
// Threads: may be used concurrently; must not block.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  virtual Decision Authorize(const UserInfo& user, const RequestInfo& request) const = 0;
};

// system:masters may do everything; everybody may look at health and version, and those who have a
// name at discovery. What roles allow follows.
class BuiltinAuthorizer final : public Authorizer {
 public:
  Decision Authorize(const UserInfo& user, const RequestInfo& request) const override;
};

// Everything goes: --authorization-mode=AlwaysAllow.
class AlwaysAllow final : public Authorizer {
 public:
  Decision Authorize(const UserInfo&, const RequestInfo&) const override { return {true, {}}; }
};

// The API's answer to one who may not.
Status ForbiddenStatus(const UserInfo& user, const RequestInfo& request, const std::string& reason);

}  // namespace cox::apiserver
