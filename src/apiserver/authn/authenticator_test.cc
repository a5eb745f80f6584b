// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authn/authenticator.h"

#include <gtest/gtest.h>

#include "apiserver/registry/pem.h"
#include "base/strings.h"
#include "net/tls.h"

namespace cox::apiserver {
namespace {

net::Request WithAuthorization(std::string value) {
  net::Request request;
  request.headers.Add("authorization", std::move(value));
  return request;
}

// "name uid [group group]", "none" for a request that is not the method's, else the error.
std::string Show(const Result<std::optional<UserInfo>>& found) {
  if (!found.ok()) return found.status().message();
  if (!*found) return "none";
  return (*found)->name + " " + (*found)->uid + " [" + Join((*found)->groups, " ") + "]";
}
std::string ShowToken(const AuthMethod& method, std::string_view token) {
  const Result<std::optional<AuthMethod::TokenIdentity>> found = method.TryToken(token, {});
  if (!found.ok()) return found.status().message();
  return *found ? Show(std::optional((*found)->user)) : "none";
}

TEST(BearerToken, IsWhatFollowsTheScheme) {
  const struct {
    std::string header, want;  // empty: none
  } kCases[] = {
      {"Bearer abc", "abc"}, {"bearer abc", "abc"}, {"BEARER abc  ", "abc"},
      {"Bearer a b", "a"},   {"Bearer", ""},        {"Bearer   abc", ""},
      {"Bearerabc", ""},     {"Basic abc", ""},     {"", ""},
      {"Bear", ""},
  };
  for (const auto& c : kCases) {
    const net::Request request = WithAuthorization(c.header);
    EXPECT_EQ(BearerToken(request).value_or(""), c.want) << c.header;
  }
  EXPECT_FALSE(BearerToken(net::Request()).has_value());
}

TEST(TokenFile, NamesUsersWithTheirGroups) {
  auto method = NewTokenFileMethod(
      "# people\n"
      "t1,alice,u1\n"
      "t2,bob,u2,dev\r\n"
      "\n"
      "t3,\"carol, jr\",u3,\"dev,ops,,\"\n"
      "t4,dave,u4,\"say \"\"hi\"\"\",extra\n"
      "t5,eve,");
  ASSERT_TRUE(method.ok()) << method.status().message();
  const struct {
    std::string token, want;
  } kCases[] = {
      {"t1", "alice u1 []"},
      {"t2", "bob u2 [dev]"},
      {"t3", "carol, jr u3 [dev ops]"},
      {"t4", "dave u4 [say \"hi\"]"},
      {"t5", "eve  []"},
      {"t6", "none"},
      {"", "none"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ShowToken(**method, c.token), c.want) << c.token;
  }
  EXPECT_EQ(Show((*method)->Try(WithAuthorization("Bearer t1"))), "none") << "tokens only";
}

TEST(TokenFile, OfTwoLinesWithOneTokenTheFirstCounts) {
  auto method = NewTokenFileMethod("t,first,1\nt,second,2\n");
  EXPECT_EQ(ShowToken(**method, "t"), "first 1 []");
}

TEST(TokenFile, RefusesLinesItCannotRead) {
  const struct {
    std::string_view csv;
    int line;
  } kCases[] = {{"token,user", 1}, {"t,u,1\n,u,1", 2}, {"t,u,1\n\nt,\"u,1", 3}, {"just text", 1}};
  for (const auto& c : kCases) {
    auto method = NewTokenFileMethod(c.csv);
    ASSERT_FALSE(method.ok()) << c.csv;
    EXPECT_EQ(method.status().message(), "token file, line " + std::to_string(c.line) +
                                             ": want token,user,uid[,\"group,group\"]");
  }
}

class CertificateTest : public ::testing::Test {
 protected:
  static std::string Der(std::string_view pem) { return NextPemBlock(pem)->bytes; }
  static net::CertificatePair Make(net::CertificateRequest request,
                                   const net::CertificatePair* issuer) {
    auto made = net::MakeCertificate(request, issuer);
    EXPECT_TRUE(made.ok());
    return *made;
  }
  static net::Request From(const std::vector<net::CertificatePair>& chain) {
    auto peer = std::make_shared<net::Peer>();
    for (const net::CertificatePair& pair : chain) {
      peer->certificates.push_back(Der(pair.certificate_pem));
    }
    net::Request request;
    request.peer = std::move(peer);
    return request;
  }

  const net::CertificatePair ca_ = Make({.common_name = "ca", .is_ca = true}, nullptr);
  const std::unique_ptr<const AuthMethod> method_ =
      *NewClientCertificateMethod(ca_.certificate_pem);
};

TEST_F(CertificateTest, CommonNameIsTheUserAndOrganizationsTheGroups) {
  const auto alice =
      Make({.common_name = "alice", .organizations = {"dev", "ops"}, .client_auth = true}, &ca_);
  EXPECT_EQ(Show(method_->Try(From({alice}))), "alice  [dev ops]");
}

TEST_F(CertificateTest, WithoutACertificateItIsSomebodyElsesRequest) {
  EXPECT_EQ(Show(method_->Try(net::Request())), "none");
  EXPECT_EQ(Show(method_->Try(From({}))), "none");
}

TEST_F(CertificateTest, RefusesWhatTheCaHasNotSignedForClients) {
  const std::string refused = "client certificate is not accepted";
  const auto other = Make({.common_name = "other", .is_ca = true}, nullptr);
  EXPECT_EQ(
      Show(method_->Try(From({Make({.common_name = "mallory", .client_auth = true}, &other)}))),
      refused);
  EXPECT_EQ(Show(method_->Try(From({Make({.common_name = "server"}, &ca_)}))), refused);
  EXPECT_EQ(Show(method_->Try(From({Make({.common_name = "self", .client_auth = true}, nullptr)}))),
            refused);
  net::Request garbage;
  auto peer = std::make_shared<net::Peer>();
  peer->certificates.push_back("no certificate");
  garbage.peer = peer;
  EXPECT_EQ(Show(method_->Try(garbage)), refused);
}

TEST_F(CertificateTest, TheIdentityIsFoundOncePerConnection) {
  const net::Request request = From({Make({.common_name = "alice", .client_auth = true}, &ca_)});
  EXPECT_EQ(Show(method_->Try(request)), "alice  []");
  EXPECT_NE(request.peer->identity, nullptr);
  EXPECT_EQ(Show(method_->Try(request)), "alice  []");
}

TEST(ClientCertificates, NeedACa) {
  EXPECT_FALSE(NewClientCertificateMethod("no pem").ok());
  EXPECT_FALSE(NewClientCertificateMethod("").ok());
}

// Says what it was told to.
class FixedMethod final : public AuthMethod {
 public:
  explicit FixedMethod(Result<std::optional<UserInfo>> answer) : answer_(std::move(answer)) {}
  Result<std::optional<UserInfo>> Try(const net::Request&) const override { return answer_; }

 private:
  const Result<std::optional<UserInfo>> answer_;
};

Authenticator Of(std::vector<Result<std::optional<UserInfo>>> answers, bool anonymous = true) {
  std::vector<std::unique_ptr<const AuthMethod>> methods;
  for (auto& answer : answers) methods.push_back(std::make_unique<FixedMethod>(std::move(answer)));
  return Authenticator(std::move(methods), anonymous);
}

TEST(Authenticator, TheFirstMethodThatSaysSomethingDecides) {
  const std::optional<UserInfo> nobody;
  const std::optional<UserInfo> alice = UserInfo{.name = "alice"}, bob = UserInfo{.name = "bob"};
  const Status bad(Reason::kUnauthorized, "why is not told");
  const net::Request request;

  Result<UserInfo> user = Of({nobody, alice, bob}).Authenticate(request);
  EXPECT_EQ(user->name, "alice");
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:authenticated"});
  user = Of({bad, alice}).Authenticate(request);
  ASSERT_FALSE(user.ok());
  EXPECT_EQ(user.status(), Status(Reason::kUnauthorized, "Unauthorized"));
}

TEST(Authenticator, WhoShowsNothingIsAnonymousWhereThatIsAllowed) {
  const std::optional<UserInfo> nobody;
  Result<UserInfo> user = Of({nobody}).Authenticate(net::Request());
  EXPECT_EQ(user->name, "system:anonymous");
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:unauthenticated"});
  EXPECT_FALSE(Of({nobody}, /*anonymous=*/false).Authenticate(net::Request()).ok());
  EXPECT_FALSE(Of({nobody}).Authenticate(WithAuthorization("Bearer unknown")).ok());
}

TEST(Authenticator, TheGroupOfTheAuthenticatedIsAddedOnce) {
  const std::optional<UserInfo> alice =
      UserInfo{.name = "alice", .uid = {}, .groups = {"system:authenticated"}, .extra = {}};
  EXPECT_EQ(Of({alice}).Authenticate(net::Request())->groups.size(), 1u);
}

}  // namespace
}  // namespace cox::apiserver
