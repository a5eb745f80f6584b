// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/kms/messages.h"

#include <gtest/gtest.h>

#include "storage/testing/hex.h"

namespace cox::storage::kms {
namespace {

// A stored value written by another implementation: key ID "key-7", one annotation, a seed.
const char kStored[] =
    "0a5e32333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f50516465666768696a6b6c6d6e6f15"
    "060d"
    "3930ad811a064fb74f879681a5e8029e7d2c7a4206d16b94092faa73b6d8e6708d71f56c8d35b7d67836aa1a010e3e"
    "1205"
    "6b65792d371a0c77726170706564207365656422210a1c76657273696f6e2e656e6372797074696f6e2e72656d6f74"
    "652e"
    "696f1201312801";

TEST(KmsMessagesTest, StoredObjectRoundTripsByteForByte) {
  const std::string bytes = FromHex(kStored);
  Result<EncryptedObject> object = ParseEncryptedObject(bytes);
  ASSERT_TRUE(object.ok()) << object.status().ToString();
  EXPECT_EQ(object->key.key_id, "key-7");
  EXPECT_EQ(object->key.ciphertext, "wrapped seed");
  EXPECT_EQ(object->key.annotations, (Annotations{{"version.encryption.remote.io", "1"}}));
  EXPECT_EQ(object->source, KeySource::kHkdfSeed);
  std::string again;
  AppendEncryptedObject(*object, &again);
  EXPECT_EQ(again, bytes);
}

TEST(KmsMessagesTest, RejectsStoredObjectsWithMissingFields) {
  const auto problem = [](const EncryptedObject& object) {
    std::string bytes;
    AppendEncryptedObject(object, &bytes);
    return ParseEncryptedObject(bytes).status().message();
  };
  const EncryptedObject good{"data", {"wrapped", "id", {}}, KeySource::kHkdfSeed};
  EXPECT_EQ(problem(good), "");
  EncryptedObject bad = good;
  bad.data = "";
  EXPECT_EQ(problem(bad), "encrypted data is empty");
  bad = good;
  bad.key.key_id = "";
  EXPECT_EQ(problem(bad), "keyID is empty");
  bad.key.key_id = std::string(1025, 'k');
  EXPECT_EQ(problem(bad), "keyID is 1025 bytes, which exceeds the max size of 1024");
  bad = good;
  bad.key.ciphertext = "";
  EXPECT_EQ(problem(bad), "encrypted DEK source is empty");
  bad.key.ciphertext = std::string(1025, 'k');
  EXPECT_EQ(problem(bad), "encrypted DEK source is 1025 bytes, which exceeds the max size of 1024");
  bad = good;
  bad.key.annotations = {{"plain", "1"}};
  EXPECT_EQ(problem(bad), "annotation key \"plain\" is not a qualified name");
  bad.key.annotations = {{"a.example.com", std::string(32 * 1024, 'x')}};
  EXPECT_EQ(problem(bad),
            "total size of annotations is 32781, which exceeds the max size of 32768");
  EXPECT_EQ(ParseEncryptedObject(FromHex("2802")).status().message(),
            "unknown encryptedDEKSourceType: 2");
  EXPECT_EQ(ParseEncryptedObject(FromHex("0aff")).status().message(),
            "failed to unmarshal encrypted object");
}

TEST(KmsMessagesTest, ParsingTruncatedStoredObjectDoesNotCrash) {
  const std::string bytes = FromHex(kStored);
  for (size_t size = 0; size < bytes.size(); ++size) {
    static_cast<void>(ParseEncryptedObject(std::string_view(bytes).substr(0, size)).ok());
  }
}

TEST(KmsMessagesTest, RequestsHaveTheGrpcPrefix) {
  EXPECT_EQ(StatusRequest(), FromHex("0000000000"));
  EXPECT_EQ(EncryptRequest(KeyBytes("seed"), "u").view(), FromHex("0000000009"
                                                                  "0a0473656564"
                                                                  "120175"));
  EXPECT_EQ(DecryptRequest({"wrapped", "id", {{"a.b", "1"}}}, "u"),
            FromHex("000000001a"
                    "0a0777726170706564"
                    "120175"
                    "1a026964"
                    "22080a03612e62120131"));
}

TEST(KmsMessagesTest, DecodesResponses) {
  Result<PluginStatus> status =
      DecodeStatus(FromHex("0a027632"
                           "12026f6b"
                           "1a026964"));
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->version + status->healthz + status->key_id, "v2okid");
  Result<WrappedKey> key =
      DecodeEncrypt(FromHex("0a0163"
                            "12026964"
                            "1a080a03612e62120131"));
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->annotations, (Annotations{{"a.b", "1"}}));
  EXPECT_EQ(DecodeDecrypt(FromHex("0a0473656564"))->view(), "seed");
  for (const char* bad : {"0a05", "ff", "0a"}) {
    EXPECT_FALSE(DecodeStatus(FromHex(bad)).ok());
    EXPECT_FALSE(DecodeEncrypt(FromHex(bad)).ok());
    EXPECT_FALSE(DecodeDecrypt(FromHex(bad)).ok());
  }
}

}  // namespace
}  // namespace cox::storage::kms
