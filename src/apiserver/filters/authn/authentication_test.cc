// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/authentication.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <thread>

#include "apiserver/registry/validation/pem.h"
#include "apiserver/testing/call_harness.h"
#include "apiserver/testing/test_keys.h"

namespace cox::apiserver {
namespace {

namespace fs = std::filesystem;

// Credentials in files that change while they are used.
class AuthenticationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cox_authnXXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    authenticator_.reset();
    authentication_.reset();
    fs::remove_all(dir_);
  }

  std::string Write(const std::string& name, std::string_view text) {
    std::ofstream(dir_ / "aside", std::ios::binary) << text;
    fs::rename(dir_ / "aside", dir_ / name);
    return dir_ / name;
  }
  Status Open(AuthenticationOptions options, ServiceAccountTokenOptions accounts = {}) {
    auto tokens = ServiceAccountTokens::Create(std::move(accounts));
    if (!tokens.ok()) return tokens.status();
    auto opened = Authentication::Open(ctx_, std::move(options), *tokens, metrics_.emplace_back());
    if (!opened.ok()) return opened.status();
    authentication_ = std::move(*opened);
    authenticator_ =
        std::make_unique<const Authenticator>(authentication_->MethodsOver(api_.registry()));
    return {};
  }
  static net::Request With(const std::string& token, std::string target = "/") {
    net::Request request;
    request.target = std::move(target);
    if (!token.empty()) request.headers.Add("authorization", "Bearer " + token);
    return request;
  }
  std::string UserOf(const net::Request& request) {
    const Result<UserInfo> user = authenticator_->Authenticate(request);
    return user.ok() ? user->name : user.status().message();
  }
  // Waits for the expected result; file changes are detected asynchronously.
  void Await(const net::Request& request, const std::string& want) {
    RealClock real;
    const auto limit = real.In(std::chrono::seconds(20));
    while (UserOf(request) != want && real.Monotonic() < limit) std::this_thread::yield();
    EXPECT_EQ(UserOf(request), want);
  }

  fs::path dir_;
  RealClock clock_;
  Context ctx_{clock_};
  ApiHarness api_;
  std::list<MetricsRegistry> metrics_;
  std::unique_ptr<Authentication> authentication_;
  std::unique_ptr<const Authenticator> authenticator_;
};

TEST_F(AuthenticationTest, TokenFileIsReloadedUnlessInvalid) {
  ASSERT_TRUE(Open({.token_file = Write("tokens", "a,alice,1\n")}).ok());
  EXPECT_EQ(UserOf(With("a")), "alice");
  Write("tokens", "a,alice\n");  // invalid: the previous tokens stay valid
  Write("tokens", "b,bob,2\n");
  Await(With("b"), "bob");
  EXPECT_EQ(UserOf(With("a")), "Unauthorized");
}

TEST_F(AuthenticationTest, ClientCaIsReloadedForOpenConnections) {
  const auto ca = *net::MakeCertificate({.common_name = "one", .is_ca = true}, nullptr);
  const auto next = *net::MakeCertificate({.common_name = "two", .is_ca = true}, nullptr);
  const auto alice = *net::MakeCertificate({.common_name = "alice", .client_auth = true}, &ca);
  const std::string path = Write("ca", ca.certificate_pem);
  ASSERT_TRUE(Open({.anonymous = false, .client_ca_file = path}).ok());
  net::Request request = With("");
  auto peer = std::make_shared<net::Peer>();
  std::string_view pem = alice.certificate_pem;
  peer->certificates.push_back(NextPemBlock(pem)->bytes);
  request.peer = peer;
  EXPECT_EQ(UserOf(request), "alice");
  EXPECT_EQ(authentication_->client_ca_pem(), ca.certificate_pem);
  Write("ca", next.certificate_pem);
  Await(request, "Unauthorized");
  EXPECT_EQ(authentication_->client_ca_pem(), next.certificate_pem);
}

TEST_F(AuthenticationTest, AnonymousFollowsConfigurationOrFlag) {
  const std::string config = Write("config", R"(apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous: {enabled: true, conditions: [{path: /livez}]}
)");
  ASSERT_TRUE(Open({.config_file = config}).ok());
  EXPECT_EQ(UserOf(With("", "/livez")), "system:anonymous");
  EXPECT_EQ(UserOf(With("", "/api")), "Unauthorized");
  EXPECT_EQ(Open({.anonymous = true, .config_file = config}).message(),
            "--authentication-config: --anonymous-auth flag cannot be set when anonymous field is "
            "configured in authentication configuration file");
  ASSERT_TRUE(Open({.anonymous = false}).ok());
  EXPECT_EQ(UserOf(With("", "/livez")), "Unauthorized");
  ASSERT_TRUE(Open({}).ok());
  EXPECT_EQ(UserOf(With("", "/api")), "system:anonymous");
}

TEST_F(AuthenticationTest, RemovedServiceAccountKeyInvalidatesItsTokens) {
  const TestKeyPair other = EcKeys("P-256");
  ServiceAccountTokenOptions accounts;
  accounts.signing_key_pem = RsaKeys().private_pem;
  accounts.signing_key_file = Write("signing", RsaKeys().private_pem);
  ASSERT_TRUE(Open({}, accounts).ok());
  const auto& tokens = authentication_->tokens();
  ServiceAccountClaims claims;
  claims.ns = "default";
  claims.account = {"sa", "u"};
  const std::string token = *tokens->Issue(claims);
  EXPECT_TRUE(tokens->Verify(token).ok());
  const uint64_t before = tokens->generation();
  Write("signing", "nonsense");
  Write("signing", other.private_pem);
  RealClock real;
  const auto limit = real.In(std::chrono::seconds(20));
  while (tokens->generation() == before && real.Monotonic() < limit) std::this_thread::yield();
  EXPECT_FALSE(tokens->Verify(token).ok());
  EXPECT_TRUE(tokens->Verify(*tokens->Issue(claims)).ok());
  EXPECT_NE(tokens->Jwks().find("ES256"), std::string::npos);
}

TEST_F(AuthenticationTest, UnusableFilesAreRejectedAtStart) {
  EXPECT_EQ(Open({.client_ca_file = dir_ / "none"}).reason(), Reason::kNotFound);
  EXPECT_EQ(Open({.client_ca_file = Write("ca", "no pem")}).message(),
            "--client-ca-file: no certificate found in the PEM");
  EXPECT_FALSE(Open({.config_file = Write("config", "kind: Other\n")}).ok());
  EXPECT_FALSE(Open({.front_proxy = {.client_ca_file = Write("ca", "no pem")}}).ok());
  EXPECT_FALSE(Open({.webhook = {.kubeconfig_file = dir_ / "none"}}).ok());
  EXPECT_FALSE(Open({.config_file = Write("config", ""), .oidc = JwtIssuerConfig{}}).ok());
}

}  // namespace
}  // namespace cox::apiserver
