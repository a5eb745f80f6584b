// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/encryption/transform/cipher.h"

// The messages of KMS plugins (api/kms/v2/service.proto) and the stored format: encoding and
// decoding.
namespace cox::storage::kms {

inline constexpr std::string_view kStatus = "/v2.KeyManagementService/Status";
inline constexpr std::string_view kEncrypt = "/v2.KeyManagementService/Encrypt";
inline constexpr std::string_view kDecrypt = "/v2.KeyManagementService/Decrypt";

using Annotations = std::map<std::string, std::string>;

// A key encrypted by the KMS, with the data that the plugin needs to decrypt it.
struct WrappedKey {
  std::string ciphertext;
  std::string key_id;
  Annotations annotations;
};

struct PluginStatus {
  std::string version;
  std::string healthz;
  std::string key_id;
};

// Encoded requests, each with gRPC's prefix of five bytes. `uid` identifies a request in logs.
std::string StatusRequest();
KeyBytes EncryptRequest(const KeyBytes& plaintext, std::string_view uid);
std::string DecryptRequest(const WrappedKey& key, std::string_view uid);

// Errors: Internal if the message is malformed.
Result<PluginStatus> DecodeStatus(std::string_view message);
Result<WrappedKey> DecodeEncrypt(std::string_view message);
Result<KeyBytes> DecodeDecrypt(std::string_view message);

// How the unwrapped key is used.
enum class KeySource : uint8_t {
  kAesGcmKey = 0,  // it encrypts the value
  kHkdfSeed = 1,   // a key for each value is derived from it
};

// A stored value, without its prefix.
struct EncryptedObject {
  std::string_view data;  // borrowed
  WrappedKey key;
  KeySource source = KeySource::kHkdfSeed;
};
void AppendEncryptedObject(const EncryptedObject& object, std::string* out);
// Also validates that the required fields are not empty and do not exceed the limits.
Result<EncryptedObject> ParseEncryptedObject(std::string_view bytes);

// Upstream's limits for responses of plugins. Errors: Internal.
Status CheckKeyId(std::string_view key_id);
Status CheckWrappedKey(const WrappedKey& key);

}  // namespace cox::storage::kms
