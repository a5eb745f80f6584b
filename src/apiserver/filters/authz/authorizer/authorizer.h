// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rbac/v1.h"
#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"
#include "base/status.h"

namespace cox::apiserver {

// The decision of an authorizer: allowed, denied, or no opinion.
struct Decision {
  bool allowed = false;
  std::string reason;      // for humans; often empty
  bool denied = false;     // overrides later authorizers; never with `allowed`
  std::string error = {};  // evaluation error; without an opinion, the request fails with it
};

// The selectors of a list, watch or deletecollection request, unparsed. Empty: none. Ownership:
// borrows.
struct Selectors {
  std::string_view fields, labels;
};

// A user's permissions in one namespace, as rules.
struct UserRules {
  List<rbac::v1::PolicyRule> rules;
  bool incomplete = false;  // the list may be incomplete
  std::string error;        // the cause, if incomplete
};

// Decides whether a user may execute a request.
//
// Threads: May be used concurrently.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Whether Authorize may currently block: then it must not be called on an event loop.
  virtual bool MayBlock() const { return false; }
  // The selectors matter for authorizers that allow only a part of a collection.
  Decision Authorize(const UserInfo& user, const RequestInfo& request,
                     const Selectors& selectors = {}) const {
    return Decide(user, request, selectors);
  }
  virtual UserRules Rules(const UserInfo& user, std::string_view ns) const = 0;

 private:
  virtual Decision Decide(const UserInfo& user, const RequestInfo& request,
                          const Selectors& selectors) const = 0;
};

// --authorization-mode=AlwaysAllow.
class AlwaysAllow final : public Authorizer {
 public:
  Decision Decide(const UserInfo&, const RequestInfo&, const Selectors&) const override {
    return {true, {}};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override;
};

// --authorization-mode=AlwaysDeny.
class AlwaysDeny final : public Authorizer {
 public:
  Decision Decide(const UserInfo&, const RequestInfo&, const Selectors&) const override {
    return {false, "Everything is forbidden."};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }
};

// Allows everything for system:masters. For other users the first member with an opinion decides.
class UnionAuthorizer final : public Authorizer {
 public:
  // The members must outlive the union.
  explicit UnionAuthorizer(std::vector<const Authorizer*> members) : members_(std::move(members)) {}
  bool MayBlock() const override;
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors& selectors) const override;
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

 private:
  const std::vector<const Authorizer*> members_;
};

// The response for a forbidden request.
Status ForbiddenStatus(const UserInfo& user, const RequestInfo& request, const std::string& reason);
// The same for a decision: OK if it is allowed; InternalError if evaluation failed.
Status StatusOf(const Decision& decision, const UserInfo& user, const RequestInfo& request);

}  // namespace cox::apiserver
