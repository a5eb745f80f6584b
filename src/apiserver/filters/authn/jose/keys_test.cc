// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/jose/keys.h"

#include <gtest/gtest.h>

#include "apiserver/testing/test_keys.h"
#include "base/base64.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

struct Case {
  const char* curve;  // null: RSA
  std::string_view algorithm;
  size_t signature;
};
constexpr Case kCases[] = {{nullptr, "RS256", 256},
                           {"P-256", "ES256", 64},
                           {"P-384", "ES384", 96},
                           {"P-521", "ES512", 132}};

TEST(KeysTest, SignaturesVerifyWithPublicKey) {
  for (const Case& c : kCases) {
    const TestKeyPair pair = c.curve == nullptr ? RsaKeys() : EcKeys(c.curve);
    const SigningKey key = *SigningKey::Parse(pair.private_pem);
    const std::string signature = *key.Sign("message");
    EXPECT_EQ(signature.size(), c.signature) << c.algorithm;
    const std::vector<VerificationKey> keys = *ParseVerificationKeys(pair.public_pem);
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_EQ(keys[0].algorithm(), c.algorithm);
    EXPECT_EQ(keys[0].id(), key.verification_key().id());
    EXPECT_TRUE(keys[0].Verify("message", signature)) << c.algorithm;
    EXPECT_FALSE(keys[0].Verify("another", signature)) << c.algorithm;
    std::string broken = signature;
    broken[10] = static_cast<char>(broken[10] ^ 1);
    EXPECT_FALSE(keys[0].Verify("message", broken)) << c.algorithm;
    EXPECT_FALSE(keys[0].Verify("message", signature.substr(1))) << c.algorithm;
    EXPECT_FALSE(keys[0].Verify("message", "")) << c.algorithm;
  }
}

TEST(KeysTest, VerificationKeysAreReadFromAllPemTypes) {
  const std::string all = "text before\n" + RsaKeys().public_pem + EcKeys("P-256").private_pem +
                          OtherRsaKeys().private_pem;
  const Result<std::vector<VerificationKey>> keys = ParseVerificationKeys(all);
  ASSERT_TRUE(keys.ok()) << keys.status().message();
  ASSERT_EQ(keys->size(), 3u);
  EXPECT_EQ((*keys)[1].algorithm(), "ES256");
  EXPECT_EQ((*keys)[2].id(), ParseVerificationKeys(OtherRsaKeys().public_pem)->front().id());
}

TEST(KeysTest, Pkcs1PublicKeysAreRead) {
  constexpr std::string_view kPem =
      "-----BEGIN RSA PUBLIC KEY-----\n"
      "MIIBCgKCAQEAyfDcIh8qIt0/YpGPrJUK1Q0jtELp+5SV3/f1awKbVvY5zMePNq6H\n"
      "g2mYGUcQlCN3b8QGycDBCyTSoZuj+O3BLuh5MOOA7mLZ01DJOXTMDHpoLt3SlOrW\n"
      "5r89pOyNaFx7ehJcV3qzKSgLvVfCESgQ1d1hqAd1+nyTre+gSy6gt0CCNXjmHw/I\n"
      "pBslMmpuDgQcG+miQQj0EsPOBBj4pSPOpNltaDbNYknOeaRPWq0SLDn/ocBNeTQP\n"
      "/aXjJnId3TUu6eFob0YKcTHI7sDyNhSkh41pkCYMJ3FmhUSnGiSiHHNy856MGjz/\n"
      "GLlpeeAYs35EftbvQlYzWcgT05K9bXk0kwIDAQAB\n"
      "-----END RSA PUBLIC KEY-----\n";
  const Result<std::vector<VerificationKey>> keys = ParseVerificationKeys(kPem);
  ASSERT_TRUE(keys.ok()) << keys.status().message();
  // The id that upstream computes for this key.
  EXPECT_EQ(keys->front().id(), "60S53aFoWca-wc06WeEaTv7wORxMdWsmUYA5zk6KV18");
  const Value jwk = keys->front().Jwk();
  EXPECT_EQ(jwk.Find("e")->as_string(), "AQAB");
  EXPECT_EQ(jwk.Find("kty")->as_string(), "RSA");
  EXPECT_TRUE(jwk.Find("n")->as_string().starts_with("yfDcIh8qIt0_YpGPrJUK1Q0jtELp-5SV3_f1"));
}

TEST(KeysTest, EcJwkContainsCurveAndPoint) {
  const Value jwk = ParseVerificationKeys(EcKeys("P-384").public_pem)->front().Jwk();
  EXPECT_EQ(jwk.Find("kty")->as_string(), "EC");
  EXPECT_EQ(jwk.Find("crv")->as_string(), "P-384");
  EXPECT_EQ(base64::DecodeUrl(jwk.Find("x")->as_string())->size(), 48u);
  EXPECT_EQ(base64::DecodeUrl(jwk.Find("y")->as_string())->size(), 48u);
}

TEST(KeysTest, UnsupportedKeysAreRejected) {
  EXPECT_FALSE(ParseVerificationKeys("").ok());
  EXPECT_FALSE(ParseVerificationKeys("-----BEGIN PUBLIC KEY-----\nAAAA\n").ok());
  EXPECT_FALSE(SigningKey::Parse(RsaKeys().public_pem).ok());
  EXPECT_FALSE(SigningKey::Parse("nonsense").ok());
  EXPECT_FALSE(SigningKey::Parse(EcKeys("secp256k1").private_pem).ok());
  EXPECT_FALSE(SigningKey::Parse(MakeKeyPair(EVP_RSA_gen(1024)).private_pem).ok());
  EXPECT_FALSE(
      SigningKey::Parse(MakeKeyPair(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")).private_pem)
          .ok());
}

TEST(KeysTest, GeneratedKeysSign) {
  const SigningKey key = *SigningKey::Parse(*GenerateSigningKeyPem());
  EXPECT_EQ(key.verification_key().algorithm(), "ES256");
  EXPECT_TRUE(key.verification_key().Verify("m", *key.Sign("m")));
}

}  // namespace
}  // namespace cox::apiserver
