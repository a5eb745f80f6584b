// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/authenticator/authenticator.h"

#include <gtest/gtest.h>

#include "apiserver/filters/authn/authenticator/authn_metrics.h"
#include "apiserver/filters/authn/authenticator/client_certificate.h"
#include "apiserver/filters/authn/token_file.h"
#include "apiserver/registry/validation/pem.h"
#include "base/strings.h"
#include "base/testing/test_clock.h"
#include "net/testing/weak_certificate.h"
#include "net/tls.h"

namespace cox::apiserver {
namespace {

net::Request WithAuthorization(std::string value) {
  net::Request request;
  request.headers.Add("authorization", std::move(value));
  return request;
}

// "name uid [group group]"; "none" if the method does not apply, otherwise the error.
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

TEST(BearerToken, FollowsScheme) {
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

TEST(TokenFile, YieldsUsersWithGroups) {
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

TEST(TokenFile, FirstLineWinsForDuplicateToken) {
  auto method = NewTokenFileMethod("t,first,1\nt,second,2\n");
  EXPECT_EQ(ShowToken(**method, "t"), "first 1 []");
}

TEST(TokenFile, RejectsInvalidLines) {
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
  CaPoolPtr cas_ = *CaPool::Parse(ca_.certificate_pem);
  RealClock clock_;  // certificates are created with the current time
  const std::unique_ptr<const AuthMethod> method_ =
      NewClientCertificateMethod([this] { return cas_; }, clock_);
};

TEST_F(CertificateTest, CommonNameIsUserAndOrganizationsAreGroups) {
  const auto alice =
      Make({.common_name = "alice", .organizations = {"dev", "ops"}, .client_auth = true}, &ca_);
  EXPECT_EQ(Show(method_->Try(From({alice}))), "alice  [dev ops]");
}

TEST_F(CertificateTest, RequestWithoutCertificateIsNotHandled) {
  EXPECT_EQ(Show(method_->Try(net::Request())), "none");
  EXPECT_EQ(Show(method_->Try(From({}))), "none");
}

TEST_F(CertificateTest, RejectsCertificatesNotSignedByCaForClients) {
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

TEST_F(CertificateTest, IdentityIsCachedPerConnection) {
  const net::Request request = From({Make({.common_name = "alice", .client_auth = true}, &ca_)});
  EXPECT_EQ(Show(method_->Try(request)), "alice  []");
  EXPECT_NE(request.peer->identity, nullptr);
  EXPECT_EQ(Show(method_->Try(request)), "alice  []");
}

TEST_F(CertificateTest, RejectsWeakCertificates) {
  for (const net::Weakness weakness : {net::Weakness::kShortKey, net::Weakness::kSha1Signature}) {
    const auto weak =
        net::WeakCertificate({.common_name = "alice", .client_auth = true}, ca_, weakness);
    EXPECT_EQ(Show(method_->Try(From({weak}))), "client certificate is not accepted");
  }
}

TEST_F(CertificateTest, ChangedCasAreVerifiedAgainOnSameConnection) {
  const net::Request request = From({Make({.common_name = "alice", .client_auth = true}, &ca_)});
  EXPECT_EQ(Show(method_->Try(request)), "alice  []");
  const auto other = Make({.common_name = "other", .is_ca = true}, nullptr);
  const CaPoolPtr before = cas_;
  cas_ = *CaPool::Parse(other.certificate_pem);
  EXPECT_EQ(Show(method_->Try(request)), "client certificate is not accepted");
  cas_ = before;
  EXPECT_EQ(Show(method_->Try(request)), "alice  []");
}

TEST_F(CertificateTest, CredentialIdIsCertificateHash) {
  const auto alice = Make({.common_name = "alice", .client_auth = true}, &ca_);
  const auto user = method_->Try(From({alice}));
  const auto& ids = (*user)->extra.at("authentication.kubernetes.io/credential-id");
  ASSERT_EQ(ids.size(), 1U);
  EXPECT_TRUE(ids[0].starts_with("X509SHA256=")) << ids[0];
  EXPECT_EQ(ids[0].size(), 11U + 64U);
}

TEST_F(CertificateTest, CertificateWithoutCommonNameDoesNotAuthenticate) {
  EXPECT_EQ(Show(method_->Try(From({Make({.organizations = {"dev"}, .client_auth = true}, &ca_)}))),
            "none");
}

TEST(ClientCertificates, ExpireDuringConnection) {
  TestClock clock;  // in 2030, when certificates created now have expired
  const auto ca =
      *net::MakeCertificate({.common_name = "ca", .days = 10'000, .is_ca = true}, nullptr);
  const auto alice = *net::MakeCertificate({.common_name = "alice", .client_auth = true}, &ca);
  const CaPoolPtr cas = *CaPool::Parse(ca.certificate_pem);
  std::string_view pem = alice.certificate_pem;
  auto peer = std::make_shared<net::Peer>();
  peer->certificates.push_back(NextPemBlock(pem)->bytes);
  net::Request request;
  request.peer = std::move(peer);
  RealClock now;
  clock.SetWallTime(now.Now());
  EXPECT_TRUE(VerifyPeer(request, cas, clock).ok());
  clock.SetWallTime(now.Now() + std::chrono::hours(24 * 400));
  EXPECT_TRUE(VerifyPeer(request, cas, clock).ok()) << "remembered for a moment";
  clock.Advance(std::chrono::minutes(2));
  EXPECT_FALSE(VerifyPeer(request, cas, clock).ok());
}

TEST(ClientCertificates, RequireCa) {
  EXPECT_FALSE(CaPool::Parse("no pem").ok());
  EXPECT_FALSE(CaPool::Parse("").ok());
}

TEST(ClientCertificates, AreCombinedWithoutDuplicatesAndExpired) {
  RealClock clock;
  const auto a =
      net::MakeCertificate({.common_name = "a", .is_ca = true}, nullptr)->certificate_pem;
  const auto b =
      net::MakeCertificate({.common_name = "b", .is_ca = true}, nullptr)->certificate_pem;
  EXPECT_EQ(CombineCertificates(a, "text\n" + b + a, clock.Now()), a + b);
  EXPECT_EQ(CombineCertificates("", a, clock.Now()), a);
  EXPECT_EQ(CombineCertificates(a, b, clock.Now() + std::chrono::hours(24 * 400)), "");
}

// Returns a fixed result.
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

TEST(Authenticator, FirstMethodWithIdentityDecides) {
  const std::optional<UserInfo> nobody;
  const std::optional<UserInfo> alice = UserInfo{.name = "alice"}, bob = UserInfo{.name = "bob"};
  const Status bad(Reason::kUnauthorized, "why is not told");
  const net::Request request;

  Result<UserInfo> user = Of({nobody, alice, bob}).Authenticate(request);
  EXPECT_EQ(user->name, "alice");
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:authenticated"});
  // An invalid credential does not prevent authentication by another one, but excludes anonymous
  // access.
  EXPECT_EQ(Of({bad, alice}).Authenticate(request)->name, "alice");
  user = Of({bad, nobody}).Authenticate(request);
  ASSERT_FALSE(user.ok());
  EXPECT_EQ(user.status(), Status(Reason::kUnauthorized, "Unauthorized"));
}

TEST(Authenticator, RequestWithoutCredentialIsAnonymousIfAllowed) {
  const std::optional<UserInfo> nobody;
  Result<UserInfo> user = Of({nobody}).Authenticate(net::Request());
  EXPECT_EQ(user->name, "system:anonymous");
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:unauthenticated"});
  EXPECT_FALSE(Of({nobody}, /*anonymous=*/false).Authenticate(net::Request()).ok());
  EXPECT_FALSE(Of({nobody}).Authenticate(WithAuthorization("Bearer unknown")).ok());
}

TEST(Authenticator, RemovesAllIdentityHeaders) {
  const Authenticator authenticator(
      {.methods = {}, .proxy_headers = {"x-who"}, .proxy_prefixes = {"x-more-"}});
  net::Headers headers = {{"authorization", "Bearer x"},
                          {"x-remote-user", "root"},
                          {"x-remote-uid", "1"},
                          {"x-remote-group", "a"},
                          {"x-remote-group", "b"},
                          {"x-remote-extra-scopes", "all"},
                          {"x-who", "root"},
                          {"x-more-things", "1"},
                          {"x-remote-control", "tv"},
                          {"accept", "*/*"}};
  authenticator.RemoveCredentials(headers);
  std::vector<std::string> left;
  for (const auto& [name, value] : headers) left.push_back(name);
  EXPECT_EQ(left, (std::vector<std::string>{"x-remote-control", "accept"}));
}

TEST(Authenticator, AnonymousIsLimitedToPaths) {
  const Authenticator authenticator(
      {.methods = {}, .anonymous = [](std::string_view path) { return path == "/healthz"; }});
  net::Request request;
  request.target = "/healthz?verbose";
  EXPECT_EQ(authenticator.Authenticate(request)->name, "system:anonymous");
  request.target = "/api";
  EXPECT_EQ(authenticator.Authenticate(request).status().message(), "Unauthorized");
}

TEST(Authenticator, CountsAttemptsByResultAndUser) {
  MetricsRegistry registry;
  AuthnMetrics metrics(registry);
  TestClock clock;
  std::vector<std::unique_ptr<const AuthMethod>> methods;
  methods.push_back(std::move(*NewTokenFileMethod("a,admin,1\nb,bob@example.com,2\nc,carol,3\n")));
  const Authenticator authenticator(
      {.methods = std::move(methods), .metrics = &metrics, .clock = &clock});
  for (const char* token : {"a", "b", "c", "c", "x"}) {
    (void)authenticator.Authenticate(WithAuthorization(std::string("Bearer ") + token));
  }
  const std::string text = registry.Render();
  for (const char* line : {"authentication_attempts{result=\"success\"} 4\n",
                           "authentication_attempts{result=\"failure\"} 1\n",
                           "authenticated_user_requests{username=\"admin\"} 1\n",
                           "authenticated_user_requests{username=\"email_id\"} 1\n",
                           "authenticated_user_requests{username=\"other\"} 2\n",
                           "authentication_duration_seconds_count{result=\"success\"} 4\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(text.find("carol"), std::string::npos) << "names of users are no labels";
}

TEST(Authenticator, AuthenticatedGroupIsAddedOnce) {
  const std::optional<UserInfo> alice =
      UserInfo{.name = "alice", .uid = {}, .groups = {"system:authenticated"}, .extra = {}};
  EXPECT_EQ(Of({alice}).Authenticate(net::Request())->groups.size(), 1u);
}

}  // namespace
}  // namespace cox::apiserver
