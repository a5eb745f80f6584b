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

// What an authorizer says: allowed, denied, or neither: no opinion.
struct Decision {
  bool allowed = false;
  std::string reason;      // for people, why or why not; often empty
  bool denied = false;     // whatever others would say; never with `allowed`
  std::string error = {};  // what kept it from deciding; with no opinion the request fails by it
};

// What a list, a watch or a deletion of many is narrowed by, as the client wrote it; empty:
// nothing. Ownership: borrows.
struct Selectors {
  std::string_view fields, labels;
};

// What a user may do in one namespace, written as rules.
struct UserRules {
  List<rbac::v1::PolicyRule> rules;
  bool incomplete = false;  // there may be more
  std::string error;        // why, if it is
};

// Decides whether a user may do what a request asks.
// Threads: may be used concurrently.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Whether Authorize may wait for others, right now: then it is not to be called on a loop.
  virtual bool MayBlock() const { return false; }
  // The selectors matter where a request may concern many, to those who allow the part and not the
  // whole.
  Decision Authorize(const UserInfo& user, const RequestInfo& request,
                     const Selectors& selectors = {}) const {
    return Decide(user, request, selectors);
  }
  virtual UserRules Rules(const UserInfo& user, std::string_view ns) const = 0;

 private:
  virtual Decision Decide(const UserInfo& user, const RequestInfo& request,
                          const Selectors& selectors) const = 0;
};

// Everything goes: --authorization-mode=AlwaysAllow.
class AlwaysAllow final : public Authorizer {
 public:
  Decision Decide(const UserInfo&, const RequestInfo&, const Selectors&) const override {
    return {true, {}};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override;
};

// Nothing goes: --authorization-mode=AlwaysDeny.
class AlwaysDeny final : public Authorizer {
 public:
  Decision Decide(const UserInfo&, const RequestInfo&, const Selectors&) const override {
    return {false, "Everything is forbidden."};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }
};

// Those in system:masters may do everything; others what the first of the members says that has an
// opinion, asked in order.
class UnionAuthorizer final : public Authorizer {
 public:
  // The members outlive the union.
  explicit UnionAuthorizer(std::vector<const Authorizer*> members) : members_(std::move(members)) {}
  bool MayBlock() const override;
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors& selectors) const override;
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

 private:
  const std::vector<const Authorizer*> members_;
};

// The API's answer to one who may not.
Status ForbiddenStatus(const UserInfo& user, const RequestInfo& request, const std::string& reason);
// The same for a decision: OK if it allows; InternalError if it could not be made.
Status StatusOf(const Decision& decision, const UserInfo& user, const RequestInfo& request);

}  // namespace cox::apiserver
