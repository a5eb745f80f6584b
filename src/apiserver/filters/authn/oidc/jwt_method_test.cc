// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/oidc/jwt_method.h"

#include <gtest/gtest.h>

#include "apiserver/testing/test_issuer.h"
#include "base/strings.h"
#include "base/testing/test_clock.h"

namespace cox::apiserver {
namespace {

constexpr char kUrl[] = "https://issuer.example.com";

// An issuer whose documents the test sets.
class JwtMethodTest : public ::testing::Test {
 protected:
  ~JwtMethodTest() override { ctx_.Stop(); }

  void Serve(const std::vector<const TestIssuerKey*>& keys) {
    Value::Array jwks;
    for (const TestIssuerKey* key : keys) jwks.push_back(key->Jwk());
    MutexLock lock(mu_);
    jwks_ = json::Write(Value::MakeObject({{"keys", Value(std::move(jwks))}}));
  }
  Result<std::string> Fetch(const std::string& url) {
    MutexLock lock(mu_);
    if (url == std::string(kUrl) + "/keys") {
      ++fetches_;
      return jwks_;
    }
    EXPECT_EQ(url, std::string(kUrl) + "/.well-known/openid-configuration");
    return json::Write(
        Value::MakeObject({{"issuer", kUrl}, {"jwks_uri", std::string(kUrl) + "/keys"}}));
  }
  int fetches() {
    MutexLock lock(mu_);
    return fetches_;
  }

  std::unique_ptr<const AuthMethod> Method(JwtIssuerConfig config) {
    auto issuers = std::make_shared<const JwtIssuers>(
        ctx_, std::vector{std::move(config)},
        [this](const std::string&) {
          return [this](const Context&, const std::string& url) { return Fetch(url); };
        },
        nullptr);
    return NewJwtMethod([issuers] { return issuers; });
  }
  static JwtIssuerConfig Config() {
    return {.url = kUrl,
            .audiences = {"kube"},
            .username = {"sub", "oidc:"},
            .groups = JwtIssuerConfig::Mapping{"groups", "g:"}};
  }
  Value Claims() {
    return Value::MakeObject({{"iss", kUrl},
                              {"aud", "kube"},
                              {"sub", "alice"},
                              {"exp", Now() + 600},
                              {"groups", Value::MakeArray({"dev", "ops"})}});
  }
  int64_t Now() {
    return std::chrono::duration_cast<std::chrono::seconds>(clock_.Now().time_since_epoch())
        .count();
  }
  std::string Await(const AuthMethod& method, const std::string& token) {
    return Show(method.AwaitToken(ctx_, token, {}));
  }
  static std::string Show(const AuthMethod::TokenResult& found) {
    if (!found.ok()) {
      return AuthMethod::IsWouldWait(found.status()) ? "wait" : found.status().message();
    }
    if (!*found) return "none";
    const UserInfo& user = (*found)->user;
    std::string text = user.name + " " + user.uid + " [" + Join(user.groups, " ") + "]";
    for (const auto& [key, values] : user.extra) text += " " + key + "=" + Join(values, ",");
    return text;
  }

  const TestIssuerKey key_ = TestIssuerKey::Ec("k1", "P-256");
  TestClock clock_;
  Context ctx_{clock_};
  Mutex mu_;
  std::string jwks_ COX_GUARDED_BY(mu_) = R"({"keys":[]})";
  int fetches_ COX_GUARDED_BY(mu_) = 0;
};

TEST_F(JwtMethodTest, TokenYieldsUserWithGroups) {
  Serve({&key_});
  const auto method = Method(Config());
  Value claims = Claims();
  EXPECT_EQ(Await(*method, key_.Sign("ES256", claims)), "oidc:alice  [g:dev g:ops]");
  claims.as_object()["groups"] = "one";
  claims.as_object()["jti"] = "id-1";
  claims.as_object()["aud"] = Value::MakeArray({"other", "kube"});
  EXPECT_EQ(Await(*method, key_.Sign("ES256", claims)),
            "oidc:alice  [g:one] authentication.kubernetes.io/credential-id=JTI=id-1");
  EXPECT_EQ(fetches(), 1);
}

TEST_F(JwtMethodTest, RejectsInvalidClaims) {
  Serve({&key_});
  JwtIssuerConfig config = Config();
  config.required_claims["hd"] = "example.com";
  const auto method = Method(config);
  const struct {
    std::string claim;
    Value value;
    std::string want;
  } kCases[] = {
      {"hd", "example.com", "oidc:alice  [g:dev g:ops]"},
      {"hd", "other.com", "oidc: required claim \"hd\" has another value"},
      {"hd", 5, "oidc: claim \"hd\" is not a string"},
      {"iss", "https://other.example.com", "none"},
      {"aud", "other", "oidc: verify token: oidc: expected audience in kube"},
      {"aud", Value(), "oidc: verify token: oidc: expected audience in kube"},
      {"exp", Now(), "oidc: verify token: oidc: token is expired"},
      {"exp", Value(), "oidc: verify token: oidc: token is expired"},
      {"nbf", Now() + 301,
       "oidc: verify token: oidc: current time before the nbf (not before) time"},
      {"nbf", Now() + 299, "oidc:alice  [g:dev g:ops]"},
      {"sub", "", "oidc: claim \"sub\" is empty"},
      {"sub", Value(), "oidc: claim \"sub\" not present"},
      {"sub", 7, "oidc: claim \"sub\" is not a string"},
      {"groups", 7, "oidc: parse groups claim \"groups\": not a string or a list of strings"},
      {"groups", Value::MakeArray({"a", 1}),
       "oidc: parse groups claim \"groups\": not a string or a list of strings"},
      {"groups", Value(), "oidc:alice  []"},
  };
  for (const auto& c : kCases) {
    Value claims = Claims();
    claims.as_object()["hd"] = "example.com";
    claims.as_object()[c.claim] = c.value;
    EXPECT_EQ(Await(*method, key_.Sign("ES256", claims)), c.want) << c.claim;
  }
  for (const char* text : {"", "a.b.c", "secret", "..", "eyJhbGciOiJub25lIn0.e30."}) {
    EXPECT_EQ(Await(*method, text), "none") << text;
  }
}

TEST_F(JwtMethodTest, EmailAddressesMustBeVerified) {
  Serve({&key_});
  JwtIssuerConfig config = Config();
  config.username = {"email", ""};
  const auto method = Method(config);
  const std::pair<Value, const char*> kCases[] = {
      {true, "a@example.com  [g:dev g:ops]"},
      {false, "oidc: email not verified"},
      {"true", "oidc: email not verified"},
  };
  for (const auto& [verified, want] : kCases) {
    Value claims = Claims();
    claims.as_object()["email"] = "a@example.com";
    claims.as_object()["email_verified"] = verified;
    EXPECT_EQ(Await(*method, key_.Sign("ES256", claims)), want);
  }
}

TEST_F(JwtMethodTest, OnlyIssuerKeysAndAllowedAlgorithmsAreAccepted) {
  Serve({&key_});
  JwtIssuerConfig config = Config();
  config.signing_algorithms = {"ES256"};
  const auto method = Method(config);
  const TestIssuerKey forged = TestIssuerKey::Ec("k1", "P-256");  // has the id k1 too
  EXPECT_EQ(Await(*method, forged.Sign("ES256", Claims())),
            "oidc: failed to verify id token signature");
  const TestIssuerKey rsa = TestIssuerKey::Rsa("k1");
  EXPECT_EQ(Await(*method, rsa.Sign("RS256", Claims())),
            "oidc: malformed jwt: unexpected signature algorithm");
}

TEST_F(JwtMethodTest, UnknownKeyIsFetchedOnWorkerWithRateLimit) {
  Serve({&key_});
  const auto method = Method(Config());
  ASSERT_EQ(Await(*method, key_.Sign("ES256", Claims())), "oidc:alice  [g:dev g:ops]");
  const TestIssuerKey rotated = TestIssuerKey::Ec("k2", "P-256");
  const std::string token = rotated.Sign("ES256", Claims());
  EXPECT_EQ(Show(method->TryToken(token, {})), "wait") << "not on the connection's loop";
  // The issuer was called a moment ago.
  EXPECT_EQ(Await(*method, token), "oidc: failed to verify id token signature");
  EXPECT_EQ(fetches(), 1);
  Serve({&key_, &rotated});
  clock_.Advance(IssuerKeys::kLeast);
  EXPECT_EQ(Await(*method, token), "oidc:alice  [g:dev g:ops]");
  EXPECT_EQ(fetches(), 2);
  EXPECT_EQ(Show(method->TryToken(token, {})), "oidc:alice  [g:dev g:ops]");
}

TEST_F(JwtMethodTest, CacheEntryExpiresWithToken) {
  Serve({&key_});
  const auto method = Method(Config());
  Value claims = Claims();
  claims.as_object()["exp"] = Now() + 5;
  const std::string token = key_.Sign("ES256", claims);
  ASSERT_EQ(Await(*method, token), "oidc:alice  [g:dev g:ops]");
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_EQ(Await(*method, token), "oidc: verify token: oidc: token is expired");
}

}  // namespace
}  // namespace cox::apiserver
