// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/impersonation/impersonation.h"

#include <gtest/gtest.h>

#include <set>

namespace cox::apiserver {
namespace {

// Allows the requests in a list: "verb group resource/sub namespace/name".
class ByList final : public Authorizer {
 public:
  std::set<std::string> allowed;

  Decision Decide(const UserInfo&, const RequestInfo& r, const Selectors&) const override {
    std::string ask = r.verb + " " + r.group + " " + r.resource;
    if (!r.subresource.empty()) ask += "/" + r.subresource;
    ask += " " + r.namespace_ + "/" + r.name;
    return {allowed.contains(ask), {}};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }
};

class ImpersonationTest : public ::testing::Test {
 protected:
  Result<UserInfo> As(net::Headers headers) {
    net::Request request;
    request.headers = std::move(headers);
    RequestInfo info;
    info.is_resource = true;
    info.verb = "list";
    info.resource = "pods";
    info.namespace_ = "ns";
    return impersonation_.Apply(request, info,
                                {.name = "imp", .uid = "1", .groups = {"g"}, .extra = {}});
  }
  std::string Error(net::Headers headers) { return As(std::move(headers)).status().message(); }

  ByList authorizer_;
  Impersonation impersonation_{authorizer_};
};

TEST_F(ImpersonationTest, WithoutHeadersUserIsUnchanged) {
  EXPECT_EQ(As({})->name, "imp");
  EXPECT_EQ(As({{"impersonate-user", ""}})->name, "imp");
}

TEST_F(ImpersonationTest, OtherHeadersRequireUserName) {
  EXPECT_EQ(Error({{"impersonate-group", "dev"}}),
            "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"dev\"}, "
            "Extra:map[string][]string(nil)} without impersonating a user name");
  EXPECT_EQ(Error({{"impersonate-uid", "u"}, {"impersonate-extra-scopes", "view"}}),
            "requested &user.DefaultInfo{Name:\"\", UID:\"u\", Groups:[]string(nil), "
            "Extra:map[string][]string{\"scopes\":[]string{\"view\"}}} without impersonating a "
            "user name");
}

TEST_F(ImpersonationTest, EveryPartIsAuthorized) {
  authorizer_.allowed = {"impersonate  users /alice", "impersonate  groups /dev",
                         "impersonate authentication.k8s.io uids /u1",
                         "impersonate authentication.k8s.io userextras/acme.com/scopes /view"};
  const Result<UserInfo> alice = As({{"impersonate-user", "alice"},
                                     {"impersonate-group", "dev"},
                                     {"impersonate-uid", "u1"},
                                     {"impersonate-extra-acme.com%2fscopes", "view"}});
  ASSERT_TRUE(alice.ok()) << alice.status().message();
  EXPECT_EQ(alice->name, "alice");
  EXPECT_EQ(alice->uid, "u1");
  EXPECT_EQ(alice->groups, (std::vector<std::string>{"dev", "system:authenticated"}));
  EXPECT_EQ(alice->extra.at("acme.com/scopes"), std::vector<std::string>{"view"});
  for (const net::Headers& more :
       {net::Headers{{"impersonate-user", "bob"}},
        net::Headers{{"impersonate-user", "alice"}, {"impersonate-group", "system:masters"}},
        net::Headers{{"impersonate-user", "alice"},
                     {"impersonate-group", "dev"},
                     {"impersonate-group", "ops"}},
        net::Headers{{"impersonate-user", "alice"}, {"impersonate-uid", "u2"}},
        net::Headers{{"impersonate-user", "alice"},
                     {"impersonate-extra-acme.com%2fscopes", "edit"}},
        net::Headers{{"impersonate-user", "system:serviceaccount:ns:alice"}}}) {
    EXPECT_TRUE(As(more).status().Is(Reason::kForbidden));
  }
}

TEST_F(ImpersonationTest, ConstrainedModeRequiresVerbOnRequest) {
  authorizer_.allowed = {"impersonate:user-info authentication.k8s.io users /alice"};
  EXPECT_EQ(
      Error({{"impersonate-user", "alice"}}),
      "pods is forbidden: User \"imp\" cannot impersonate-on:user-info:list resource \"pods\" "
      "in API group \"\" in the namespace \"ns\"");
  authorizer_.allowed.insert("impersonate-on:user-info:list  pods ns/");
  EXPECT_EQ(As({{"impersonate-user", "alice"}})->name, "alice");
  EXPECT_FALSE(As({{"impersonate-user", "alice"}, {"impersonate-group", "dev"}}).ok());
  EXPECT_FALSE(As({{"impersonate-user", "system:node:n"}}).ok());
}

TEST_F(ImpersonationTest, NamesImplyGroups) {
  authorizer_.allowed = {"impersonate  serviceaccounts ns/sa",
                         "impersonate  users /system:anonymous"};
  EXPECT_EQ(As({{"impersonate-user", "system:serviceaccount:ns:sa"}})->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns",
                                      "system:authenticated"}));
  EXPECT_EQ(As({{"impersonate-user", "system:anonymous"}})->groups,
            std::vector<std::string>{"system:unauthenticated"});
}

}  // namespace
}  // namespace cox::apiserver
