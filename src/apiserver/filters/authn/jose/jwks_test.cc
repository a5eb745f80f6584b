// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/jose/jwks.h"

#include <gtest/gtest.h>
#include <openssl/rsa.h>

#include "apiserver/filters/authn/jose/jws.h"
#include "apiserver/testing/test_issuer.h"

namespace cox::apiserver {
namespace {

JwkSetPtr SetOf(const Value& jwk) {
  auto set = JwkSet::Parse(json::Write(Value::MakeObject({{"keys", Value::MakeArray({jwk})}})));
  EXPECT_TRUE(set.ok());
  return *set;
}

Jwt Signed(const TestIssuerKey& key, const std::string& algorithm, std::string& holder) {
  holder = key.Sign(algorithm, Value::MakeObject({{"iss", "x"}}));
  return *ParseJwt(holder);
}

TEST(JwkSetTest, VerifiesEveryAlgorithmWithMatchingKey) {
  const TestIssuerKey rsa = TestIssuerKey::Rsa("r"), p256 = TestIssuerKey::Ec("e2", "P-256"),
                      p384 = TestIssuerKey::Ec("e3", "P-384"),
                      p521 = TestIssuerKey::Ec("e5", "P-521"), ed = TestIssuerKey::Ed("d");
  const std::pair<const TestIssuerKey*, const char*> kCases[] = {
      {&rsa, "RS256"}, {&rsa, "RS384"},  {&rsa, "RS512"},  {&rsa, "PS256"},  {&rsa, "PS384"},
      {&rsa, "PS512"}, {&p256, "ES256"}, {&p384, "ES384"}, {&p521, "ES512"}, {&ed, "EdDSA"}};
  for (const auto& [key, algorithm] : kCases) {
    std::string holder;
    const Jwt jwt = Signed(*key, algorithm, holder);
    EXPECT_TRUE(SetOf(key->Jwk())->Verify(jwt)) << algorithm;
    Jwt broken = jwt;
    broken.signature[broken.signature.size() / 2] ^= 1;
    EXPECT_FALSE(SetOf(key->Jwk())->Verify(broken)) << algorithm;
    // The key type must match the algorithm in the token's header.
    for (const std::string_view other : JwsAlgorithms()) {
      if (other == algorithm) continue;
      Jwt confused = jwt;
      confused.algorithm = other;
      EXPECT_FALSE(SetOf(key->Jwk())->Verify(confused)) << algorithm << " as " << other;
    }
    for (const char* none : {"none", "HS256", "", "RS1"}) {
      Jwt confused = jwt;
      confused.algorithm = none;
      EXPECT_FALSE(SetOf(key->Jwk())->Verify(confused)) << none;
    }
  }
}

TEST(JwkSetTest, KeyIdAndAlgorithmMustMatchToken) {
  const TestIssuerKey key = TestIssuerKey::Ec("k1", "P-256");
  std::string holder;
  Jwt jwt = Signed(key, "ES256", holder);
  EXPECT_TRUE(SetOf(key.Jwk())->Has("k1"));
  EXPECT_FALSE(SetOf(key.Jwk())->Has("k2"));
  jwt.key_id = "k2";
  EXPECT_FALSE(SetOf(key.Jwk())->Verify(jwt));
  jwt.key_id = "";
  EXPECT_TRUE(SetOf(key.Jwk())->Verify(jwt)) << "a token may name no key";
  Value other = key.Jwk();
  other.as_object()["alg"] = "ES384";
  EXPECT_FALSE(SetOf(other)->Verify(jwt));
  other = key.Jwk();
  other.as_object()["use"] = "enc";
  EXPECT_EQ(SetOf(other)->size(), 0U);
}

TEST(JwkSetTest, UnsupportedKeysAreSkippedAndInvalidDocumentsRejected) {
  for (const char* jwk :
       {R"({"kty":"oct","k":"c2VjcmV0"})", R"({"kty":"RSA","n":"AQAB"})",
        R"({"kty":"EC","crv":"P-256"})", R"({"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"})",
        R"({"kty":"OKP","crv":"X25519","x":"AA"})", R"({"kty":"RSA","n":"!!","e":"AQAB"})",
        R"("text")", "{}"}) {
    const auto set = JwkSet::Parse(std::string(R"({"keys":[)") + jwk + "]}");
    ASSERT_TRUE(set.ok()) << jwk;
    EXPECT_EQ((*set)->size(), 0U) << jwk;
  }
  for (const char* text : {"", "[]", "{}", R"({"keys":{}})", "<html>"}) {
    EXPECT_FALSE(JwkSet::Parse(text).ok()) << text;
  }
}

TEST(JwkSetTest, ShortRsaKeyIsRejected) {
  const TestIssuerKey weak = TestIssuerKey::Rsa("w", 1024);
  std::string holder;
  EXPECT_FALSE(SetOf(weak.Jwk())->Verify(Signed(weak, "RS256", holder)));
}

}  // namespace
}  // namespace cox::apiserver
