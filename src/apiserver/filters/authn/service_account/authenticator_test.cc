// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/service_account/authenticator.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "apiserver/testing/test_keys.h"
#include "apiserver/testing/write_harness.h"

namespace cox::apiserver {
namespace {

class ServiceAccountMethodTest : public ::testing::Test {
 protected:
  ServiceAccountMethodTest() {
    ServiceAccountTokenOptions options;
    options.signing_key_pem = RsaKeys().private_pem;
    tokens_ = *ServiceAccountTokens::Create(std::move(options));
    method_ = NewServiceAccountMethod(tokens_, memory_.registry(), memory_.clock());
    core::v1::ServiceAccount account;
    account.metadata.name = "sa";
    account.metadata.namespace_ = "ns";
    account_ = memory_.Create(Object::Of(account));
    core::v1::Secret secret;
    secret.metadata.name = "bound";
    secret.metadata.namespace_ = "ns";
    secret_ = memory_.Create(Object::Of(secret));
  }

  ServiceAccountClaims Claims() {
    const int64_t now = NowOf(memory_.clock()).unix_seconds();
    ServiceAccountClaims claims;
    claims.audiences = tokens_->api_audiences();
    claims.issued_at = claims.not_before = now;
    claims.expires = now + 600;
    claims.ns = "ns";
    claims.account = {"sa", account_.uid};
    return claims;
  }

  Result<std::optional<AuthMethod::TokenIdentity>> Try(const std::string& token) const {
    return method_->TryToken(token, tokens_->api_audiences());
  }

  WriteHarness memory_;
  std::shared_ptr<const ServiceAccountTokens> tokens_;
  std::unique_ptr<const AuthMethod> method_;
  meta::v1::ObjectMeta account_, secret_;
};

TEST_F(ServiceAccountMethodTest, AccountIsUser) {
  ServiceAccountClaims claims = Claims();
  claims.secret = ObjectClaim{"bound", secret_.uid};
  const auto found = Try(*tokens_->Issue(claims));
  ASSERT_TRUE(found.ok() && found->has_value()) << found.status().message();
  EXPECT_EQ((*found)->user.name, "system:serviceaccount:ns:sa");
  EXPECT_EQ((*found)->user.uid, account_.uid);
  EXPECT_EQ((*found)->user.groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns"}));
  EXPECT_EQ((*found)->user.extra.count("authentication.kubernetes.io/credential-id"), 1u);
  EXPECT_EQ((*found)->audiences, tokens_->api_audiences());
}

TEST_F(ServiceAccountMethodTest, TokenExpires) {
  const std::string token = *tokens_->Issue(Claims());
  EXPECT_TRUE(Try(token).ok());
  memory_.clock().SetWallTime(memory_.clock().Now() + std::chrono::seconds(661));
  EXPECT_EQ(Try(token).status().message(), "service account token has expired");
}

TEST_F(ServiceAccountMethodTest, TokenIsInvalidAfterBoundObjectIsDeleted) {
  ServiceAccountClaims claims = Claims();
  claims.secret = ObjectClaim{"bound", secret_.uid};
  const std::string token = *tokens_->Issue(claims);
  EXPECT_TRUE(Try(token).ok());
  memory_.Delete(core::v1::Secret::kKind, "ns", "bound");
  EXPECT_EQ(Try(token).status().message(), "service account token has been invalidated");
}

TEST_F(ServiceAccountMethodTest, TokenIsInvalidAfterAccountIsDeletedOrRecreated) {
  const std::string token = *tokens_->Issue(Claims());
  EXPECT_TRUE(Try(token).ok());
  memory_.Delete(core::v1::ServiceAccount::kKind, "ns", "sa");
  EXPECT_EQ(Try(token).status().message(), "serviceaccounts \"sa\" not found");
  core::v1::ServiceAccount again;
  again.metadata.name = "sa";
  again.metadata.namespace_ = "ns";
  const std::string uid = memory_.Create(Object::Of(again)).uid;
  EXPECT_EQ(Try(token).status().message(),
            "service account UID (" + uid + ") does not match claim (" + account_.uid + ")");
}

TEST_F(ServiceAccountMethodTest, OtherTokensAreIgnored) {
  for (const std::string& text : {std::string("alicetoken"), std::string(100'000, 'x')}) {
    const auto found = Try(text);
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->has_value());
  }
}

}  // namespace
}  // namespace cox::apiserver
