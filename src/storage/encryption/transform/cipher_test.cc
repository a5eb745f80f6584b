// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/transform/cipher.h"

#include <gtest/gtest.h>

#include <functional>

#include "storage/testing/hex.h"

namespace cox::storage {
namespace {

struct CipherCase {
  std::string name;
  size_t key_size;
  std::function<void(const KeyBytes&, std::string_view, std::string*)> append;
  std::function<Result<std::string>(const KeyBytes&, std::string_view)> open;
  bool authentic;     // every flipped bit is detected
  size_t overhead;    // size of an encrypted empty value
  std::string known;  // kObject, encrypted with the key 1, 2, 3, … by another implementation
};

void SealGcm(const KeyBytes& key, std::string_view plain, std::string* out) {
  AppendGcm(key, plain, kStoreKey, out);
}
Result<std::string> UnsealGcm(const KeyBytes& key, std::string_view sealed) {
  return OpenGcm(key, sealed, kStoreKey);
}

class CipherTest : public testing::TestWithParam<CipherCase> {
 protected:
  std::string Seal(std::string_view plain) const {
    std::string out;
    GetParam().append(key_, plain, &out);
    return out;
  }
  const KeyBytes key_ = CountingKey(1, GetParam().key_size);
};

TEST_P(CipherTest, DecryptsValuesOfAnotherImplementation) {
  Result<std::string> plain = GetParam().open(key_, FromHex(GetParam().known));
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  EXPECT_EQ(*plain, kObject);
}

TEST_P(CipherTest, RoundTripsValuesOfAllSizes) {
  for (const size_t size : {0, 1, 15, 16, 17, 31, 32, 1000, 100'000}) {
    const std::string plain(size, 'x');
    const std::string sealed = Seal(plain);
    Result<std::string> opened = GetParam().open(key_, sealed);
    ASSERT_TRUE(opened.ok()) << size;
    EXPECT_EQ(*opened, plain);
    if (size > 15) {
      EXPECT_EQ(sealed.find("xxxxxxxxxxxxxxxx"), sealed.npos) << size;
    }
  }
  EXPECT_EQ(Seal("").size(), GetParam().overhead);
}

TEST_P(CipherTest, EncryptionIsRandomized) { EXPECT_NE(Seal(kObject), Seal(kObject)); }

TEST_P(CipherTest, RejectsAnotherKey) {
  const KeyBytes other = CountingKey(2, GetParam().key_size);
  Result<std::string> opened = GetParam().open(other, Seal(kObject));
  EXPECT_TRUE(!opened.ok() || *opened != kObject);
  if (GetParam().authentic) {
    EXPECT_FALSE(opened.ok());
  }
}

TEST_P(CipherTest, DetectsEveryFlippedBit) {
  const std::string sealed = Seal(kObject);
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string bad = sealed;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    Result<std::string> opened = GetParam().open(key_, bad);
    if (GetParam().authentic) {
      ASSERT_FALSE(opened.ok()) << bit;
    } else {
      ASSERT_TRUE(!opened.ok() || *opened != kObject) << bit;
    }
  }
}

TEST_P(CipherTest, RejectsTruncatedValues) {
  const std::string sealed = Seal(kObject);
  for (size_t size = 0; size < sealed.size(); ++size) {
    Result<std::string> opened = GetParam().open(key_, std::string_view(sealed).substr(0, size));
    ASSERT_TRUE(!opened.ok() || *opened != kObject) << size;
  }
  EXPECT_EQ(GetParam().open(key_, "short").status().message(),
            "the stored data was shorter than the required size");
}

INSTANTIATE_TEST_SUITE_P(
    Ciphers, CipherTest,
    testing::Values(
        CipherCase{
            "Gcm256", 32, SealGcm, UnsealGcm, true, 28,
            "6465666768696a6b6c6d6e6f0b67004cb1f6d41cd824dbf76a499c1c9bfd72ae9c92d76ec6f283df"
            "2a848a011af481a8d86477d5d55769a8ba20836cf51b"},
        CipherCase{
            "Gcm128", 16, SealGcm, UnsealGcm, true, 28,
            "6465666768696a6b6c6d6e6f40608ff8ad4014458f271f6f6847bd75a70b822252d9ebb13241c9c4"
            "561f4b12f2fd7dd231bf1e23e6c06a10a65a149a1469"},
        CipherCase{
            "Cbc256", 32, AppendCbc, OpenCbc, false, 32,
            "6465666768696a6b6c6d6e6f70717273663199b924bef36df4f8b40432b84284911a20bbde2c59e9"
            "15b4d6cdd5167a658f1749492c09bb5c09df7d1a52e457f2"},
        CipherCase{
            "Cbc192", 24, AppendCbc, OpenCbc, false, 32,
            "6465666768696a6b6c6d6e6f70717273bd064e6e5bbebe01a6bbc8b7e14e2bc00411ef7dfdbe33c9"
            "2c425f89ea3636e5a6adc11f1bffe18200a5df3577d2030d"},
        CipherCase{
            "Secretbox", 32, AppendSecretbox, OpenSecretbox, true, 40,
            "6465666768696a6b6c6d6e6f707172737475767778797a7b4f7dd1ba7b701e7d51f3eaef77fc962d"
            "3f6e4684f3b7346f1ef956240a4145894fa394ad0baa68de41dfbdc885462538032c"}),
    [](const auto& info) { return info.param.name; });

TEST(GcmTest, BindsAValueToItsStorageKey) {
  const KeyBytes key = CountingKey(1, 32);
  std::string sealed;
  AppendGcm(key, kObject, "/registry/secrets/default/db", &sealed);
  EXPECT_EQ(OpenGcm(key, sealed, "/registry/secrets/kube-system/db").status().message(),
            "cipher: message authentication failed");
}

TEST(CbcTest, ErrorsHaveUpstreamsText) {
  const KeyBytes key = CountingKey(1, 32);
  EXPECT_EQ(OpenCbc(key, std::string(40, 'x')).status().message(),
            "the stored data is not a multiple of the block size");
  EXPECT_EQ(OpenCbc(key, std::string(16, 'x')).status().message(),
            "invalid PKCS7 data (empty or not padded)");
  EXPECT_EQ(OpenCbc(key, std::string(48, 'x')).status().message(), "invalid padding on input");
}

// Encrypted by the packages of kube-apiserver v1.36.
TEST(UpstreamTest, DecryptsValuesOfKubernetes) {
  const KeyBytes key = CountingKey(1, 32);
  EXPECT_EQ(
      OpenGcm(
          key,
          FromHex("e77f23b2e282ff5b75534780fc04f88c0eeb78b84ba8360c37611b87b7c3e5c3a21db24af9b0afb4"
                  "3487e470886e932eef82917521986f8453f710f9d5a4"),
          kStoreKey)
          .value_or(""),
      kObject);
  EXPECT_EQ(
      OpenCbc(
          key,
          FromHex("cb74ee7c8270d970b31f111afe4a79dfcfc7d8df251f5ead560fe93b37d4b95206abc689d4af160f"
                  "5280c39390a1029a73816d29581140c9e9028df94d48e1a7"))
          .value_or(""),
      kObject);
  EXPECT_EQ(
      OpenSecretbox(
          key,
          FromHex("42c6a0413f1830b29145dde861e1671c78adc2c706aa7a0193429da7c298dca0f4dcb0fb1f5fa836"
                  "9574c2cb2e2108cedf3c6ea5635e37fbca049a91580b1cc603c4f0d28b2710d28651"))
          .value_or(""),
      kObject);
}

// NaCl's test vector.
TEST(SecretboxTest, DecryptsTheNaClTestVector) {
  const KeyBytes key(FromHex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"));
  const std::string nonce = FromHex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
  const std::string tag_and_text = FromHex(
      "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1"
      "186a"
      "c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e5"
      "26ae"
      "90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb4"
      "5a74"
      "e355a5");
  Result<std::string> plain = OpenSecretbox(key, nonce + tag_and_text);
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  EXPECT_EQ(plain->substr(0, 16), FromHex("be075fc53c81f2d5cf141316ebeb0c7b"));
  EXPECT_EQ(plain->size(), 131U);
}

// RFC 5869, appendix A.1: the first block of the output.
TEST(HkdfTest, MatchesTheRfcTestVector) {
  const KeyBytes seed(FromHex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"));
  EXPECT_EQ(HkdfExpand(seed, FromHex("f0f1f2f3f4f5f6f7f8f9")).view(),
            FromHex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"));
}

TEST(KeyBytesTest, MoveWipesTheSource) {
  KeyBytes key = CountingKey(1, 32);
  const KeyBytes moved = std::move(key);
  EXPECT_EQ(moved.size(), 32U);
  EXPECT_EQ(key.size(), 0U);  // NOLINT(bugprone-use-after-move): that is what is promised
}

}  // namespace
}  // namespace cox::storage
