// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/service_account/tokens.h"

#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include "apiserver/filters/authn/jose/jwt.h"
#include "apiserver/testing/test_keys.h"
#include "base/base64.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

constexpr int64_t kNow = 1'900'000'000;

std::shared_ptr<const ServiceAccountTokens> MakeTokens(std::vector<std::string> issuers = {"iss",
                                                                                           "old"}) {
  ServiceAccountTokenOptions options;
  options.issuers = std::move(issuers);
  options.signing_key_pem = RsaKeys().private_pem;
  return *ServiceAccountTokens::Create(std::move(options));
}

ServiceAccountClaims SomeClaims() {
  ServiceAccountClaims claims;
  claims.audiences = {"a", "b"};
  claims.issued_at = claims.not_before = kNow;
  claims.expires = kNow + 600;
  claims.ns = "ns";
  claims.account = {"sa", "uid-1"};
  claims.pod = ObjectClaim{"p", "uid-2"};
  claims.node = ObjectClaim{"n", ""};
  claims.warn_after = kNow + 60;
  return claims;
}

// A token with arbitrary parts.
std::string Forge(std::string_view header, std::string_view claims, std::string_view signature) {
  return base64::EncodeUrl(header) + "." + base64::EncodeUrl(claims) + "." +
         base64::EncodeUrl(signature);
}

// The claims of an issued token as JSON.
std::string ClaimsOf(const std::string& token) {
  const size_t dot = token.find('.');
  return *base64::DecodeUrl(std::string_view(token).substr(dot + 1, token.rfind('.') - dot - 1));
}

TEST(ServiceAccountTokensTest, IssuedTokensVerify) {
  const auto tokens = MakeTokens();
  const Result<std::string> token = tokens->Issue(SomeClaims());
  ASSERT_TRUE(token.ok());
  const auto claims = *tokens->Verify(*token);
  ASSERT_TRUE(claims.has_value());
  EXPECT_EQ(claims->issuer, "iss");
  EXPECT_EQ(claims->id.size(), 36u);
  EXPECT_EQ(claims->ns, "ns");
  EXPECT_EQ(claims->account.uid, "uid-1");
  EXPECT_EQ(claims->pod->name, "p");
  EXPECT_EQ(claims->node->name, "n");
  EXPECT_FALSE(claims->secret.has_value());
  EXPECT_EQ(claims->warn_after, kNow + 60);
  const Value written = *json::Parse(ClaimsOf(*token));
  EXPECT_EQ(written.Find("sub")->as_string(), "system:serviceaccount:ns:sa");
  EXPECT_EQ(json::Write(*written.At({"kubernetes.io"})),
            R"({"namespace":"ns","node":{"name":"n"},"pod":{"name":"p","uid":"uid-2"},)"
            R"("serviceaccount":{"name":"sa","uid":"uid-1"},"warnafter":1900000060})");
}

TEST(ServiceAccountTokensTest, TokensOfOtherIssuersAreIgnored) {
  const std::string token = *MakeTokens({"elsewhere"})->Issue(SomeClaims());
  const auto verified = MakeTokens()->Verify(token);
  ASSERT_TRUE(verified.ok());
  EXPECT_FALSE(verified->has_value());
  // A former issuer is still accepted.
  EXPECT_TRUE((*MakeTokens()->Verify(*MakeTokens({"old"})->Issue(SomeClaims()))).has_value());
}

TEST(ServiceAccountTokensTest, AdditionalKeysVerifyButDoNotSign) {
  ServiceAccountTokenOptions options;
  options.issuers = {"iss"};
  options.key_pems = {OtherRsaKeys().public_pem, RsaKeys().public_pem};
  const auto verifier = *ServiceAccountTokens::Create(std::move(options));
  EXPECT_FALSE(verifier->can_issue());
  EXPECT_FALSE(verifier->Issue(SomeClaims()).ok());
  EXPECT_TRUE((*verifier->Verify(*MakeTokens()->Issue(SomeClaims()))).has_value());
}

TEST(ServiceAccountTokensTest, ForgedTokensAreRejected) {
  const auto tokens = MakeTokens();
  const std::string good = *tokens->Issue(SomeClaims());
  const std::string claims = ClaimsOf(good);
  const std::string id = ParseVerificationKeys(RsaKeys().public_pem)->front().id();
  const std::string signature =
      *base64::DecodeUrl(std::string_view(good).substr(good.rfind('.') + 1));
  const std::string hs_input =
      base64::EncodeUrl(R"({"alg":"HS256","kid":")" + id + "\"}") + "." + base64::EncodeUrl(claims);
  unsigned char mac[32];
  unsigned size = 0;
  const std::string& secret = RsaKeys().public_pem;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(hs_input.data()), hs_input.size(), mac, &size);
  const struct {
    const char* what;
    std::string token;
  } kCases[] = {
      {"alg none, no signature", Forge(R"({"alg":"none"})", claims, "")},
      {"alg none, real signature", Forge(R"({"alg":"none"})", claims, signature)},
      {"no alg", Forge("{}", claims, signature)},
      {"HS256 with the public key as secret",
       hs_input + "." + base64::EncodeUrl({reinterpret_cast<char*>(mac), size})},
      {"unknown kid", Forge(R"({"alg":"RS256","kid":"x"})", claims, signature)},
      {"claims changed", Forge(R"({"alg":"RS256","kid":")" + id + "\"}", claims + " ", signature)},
      {"another algorithm", Forge(R"({"alg":"RS512","kid":")" + id + "\"}", claims, signature)},
      {"empty signature", good.substr(0, good.rfind('.') + 1)},
      {"cut signature", good.substr(0, good.size() - 8)},
      {"signed by another key",
       *SignJwt(*SigningKey::Parse(OtherRsaKeys().private_pem), *json::Parse(claims))},
  };
  for (const auto& c : kCases) {
    EXPECT_TRUE(tokens->Verify(c.token).status().Is(Reason::kUnauthorized)) << c.what;
  }
}

TEST(ServiceAccountTokensTest, ClaimsMustBeServiceAccountClaims) {
  const auto tokens = MakeTokens();
  const SigningKey key = *SigningKey::Parse(RsaKeys().private_pem);
  for (std::string_view claims : {
           R"({"iss":"iss"})",
           R"({"iss":"iss","exp":1,"sub":"system:serviceaccount:a:b","kubernetes.io":{}})",
           R"({"iss":"iss","exp":1,"sub":"system:serviceaccount:a:other","kubernetes.io":)"
           R"({"namespace":"a","serviceaccount":{"name":"b","uid":"c"}}})",
           R"({"iss":"iss","exp":"1","sub":"system:serviceaccount:a:b","kubernetes.io":)"
           R"({"namespace":"a","serviceaccount":{"name":"b","uid":"c"}}})",
           R"({"iss":"iss","exp":1e300,"sub":"system:serviceaccount:a:b","kubernetes.io":)"
           R"({"namespace":"a","serviceaccount":{"name":"b","uid":"c"}}})",
           R"({"iss":"iss","exp":1,"aud":[1],"sub":"system:serviceaccount:a:b","kubernetes.io":)"
           R"({"namespace":"a","serviceaccount":{"name":"b","uid":"c"}}})",
       }) {
    const std::string token = *SignJwt(key, *json::Parse(claims));
    EXPECT_TRUE(tokens->Verify(token).status().Is(Reason::kUnauthorized)) << claims;
  }
}

TEST(ServiceAccountTokensTest, MalformedTokensAreIgnored) {
  const auto tokens = MakeTokens();
  const std::string good = *tokens->Issue(SomeClaims());
  for (const std::string& text :
       {std::string(), std::string("."), std::string(".."), std::string("a.b.c"),
        std::string("alicetoken"), good + ".x", good.substr(0, good.find('.')),
        std::string(kMaxTokenBytes + 1, 'a'), good + std::string(kMaxTokenBytes, 'A'),
        Forge("[]", "{}", ""), Forge("{}", "1", ""), Forge(R"({"crit":["x"]})", "{}", ""),
        Forge("{}", std::string(5000, '['), ""), good + "=="}) {
    const auto verified = tokens->Verify(text);
    ASSERT_TRUE(verified.ok()) << text.substr(0, 40);
    EXPECT_FALSE(verified->has_value()) << text.substr(0, 40);
  }
}

TEST(ServiceAccountTokensTest, TimesHaveOneMinuteLeeway) {
  ServiceAccountClaims claims = SomeClaims();
  EXPECT_TRUE(CheckTimes(claims, kNow).ok());
  EXPECT_TRUE(CheckTimes(claims, kNow + 660).ok());
  EXPECT_EQ(CheckTimes(claims, kNow + 661).message(), "service account token has expired");
  EXPECT_TRUE(CheckTimes(claims, kNow - 60).ok());
  EXPECT_EQ(CheckTimes(claims, kNow - 61).message(), "service account token is not valid yet");
  claims.not_before = 0;
  EXPECT_EQ(CheckTimes(claims, kNow - 61).message(),
            "service account token is issued in the future");
}

TEST(ServiceAccountTokensTest, AudiencesMustIntersect) {
  const std::vector<std::string> some = {"c", "b"}, none = {"x"};
  EXPECT_EQ(*MatchAudiences(SomeClaims(), some), std::vector<std::string>{"b"});
  EXPECT_EQ(MatchAudiences(SomeClaims(), none).status().message(),
            R"(token audiences ["a" "b"] is invalid for the target audiences ["x"])");
}

TEST(ServiceAccountTokensTest, DiscoveryContainsIssuerAndKeys) {
  const auto tokens = MakeTokens();
  EXPECT_EQ(tokens->DiscoveryDocument("https://h/openid/v1/jwks"),
            R"({"id_token_signing_alg_values_supported":["RS256"],"issuer":"iss",)"
            R"("jwks_uri":"https://h/openid/v1/jwks","response_types_supported":["id_token"],)"
            R"("subject_types_supported":["public"]})");
  const Value keys = *json::Parse(tokens->Jwks());
  EXPECT_EQ(keys.Find("keys")->as_array().size(), 1u);
  EXPECT_EQ(tokens->Jwks().find("\"d\""), std::string::npos);
}

TEST(ServiceAccountUserTest, UserNamesAreParsed) {
  const auto parts = ParseServiceAccountUser("system:serviceaccount:ns:name");
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->ns, "ns");
  EXPECT_EQ(parts->name, "name");
  for (std::string_view other :
       {"system:serviceaccount:", "system:serviceaccount:ns",
        "system:serviceaccount:ns:", "system:serviceaccount::x", "system:serviceaccount:NS:x",
        "system:serviceaccount:a:b:c", "alice"}) {
    EXPECT_FALSE(ParseServiceAccountUser(other).has_value()) << other;
  }
}

TEST(ServiceAccountTokensTest, KeysAreReplacedAtomically) {
  ServiceAccountTokenOptions options;
  options.signing_key_pem = RsaKeys().private_pem;
  const auto tokens = *ServiceAccountTokens::Create(std::move(options));
  ServiceAccountClaims claims;
  claims.ns = "ns";
  claims.account = {"sa", "uid"};
  const std::string old = *tokens->Issue(claims);
  const uint64_t before = tokens->generation();
  EXPECT_FALSE(tokens->ReplaceKeys("nonsense", {}).ok());
  EXPECT_FALSE(tokens->ReplaceKeys("", std::vector{OtherRsaKeys().public_pem}).ok());
  EXPECT_EQ(tokens->generation(), before);
  EXPECT_TRUE(tokens->Verify(old).ok());
  // The old key remains valid as a verification key.
  ASSERT_TRUE(
      tokens->ReplaceKeys(OtherRsaKeys().private_pem, std::vector{RsaKeys().public_pem}).ok());
  EXPECT_NE(tokens->generation(), before);
  EXPECT_TRUE(tokens->Verify(old).ok());
  const std::string next = *tokens->Issue(claims);
  ASSERT_TRUE(tokens->ReplaceKeys(OtherRsaKeys().private_pem, {}).ok());
  EXPECT_FALSE(tokens->Verify(old).ok());
  EXPECT_TRUE(tokens->Verify(next).ok());
}

}  // namespace
}  // namespace cox::apiserver
