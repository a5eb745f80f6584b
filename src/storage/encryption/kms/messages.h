// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/encryption/transform/cipher.h"

// What is said to KMS plugins (api/kms/v2/service.proto) and what is stored, to and from the wire.
namespace cox::storage::kms {

inline constexpr std::string_view kStatus = "/v2.KeyManagementService/Status";
inline constexpr std::string_view kEncrypt = "/v2.KeyManagementService/Encrypt";
inline constexpr std::string_view kDecrypt = "/v2.KeyManagementService/Decrypt";

using Annotations = std::map<std::string, std::string>;

// A key that is encrypted by the KMS, with what the plugin wants to see again to decrypt it.
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

// Requests, each with gRPC's prefix of five bytes. `uid` is for logs on both sides.
std::string StatusRequest();
KeyBytes EncryptRequest(const KeyBytes& plaintext, std::string_view uid);
std::string DecryptRequest(const WrappedKey& key, std::string_view uid);

// Responses. Errors: Internal, for bytes that are not the message.
Result<PluginStatus> DecodeStatus(std::string_view message);
Result<WrappedKey> DecodeEncrypt(std::string_view message);
Result<KeyBytes> DecodeDecrypt(std::string_view message);

// How the key that a wrapped key holds is used.
enum class KeySource : uint8_t {
  kAesGcmKey = 0,  // it encrypts the value
  kHkdfSeed = 1,   // a key for each value is derived from it
};

// A stored value, behind its prefix.
struct EncryptedObject {
  std::string_view data;  // borrowed
  WrappedKey key;
  KeySource source = KeySource::kHkdfSeed;
};
void AppendEncryptedObject(const EncryptedObject& object, std::string* out);
// Also checks what must hold of a stored object: nothing is empty, nothing larger than may be.
Result<EncryptedObject> ParseEncryptedObject(std::string_view bytes);

// Limits of what plugins may send, as upstream has them. Errors: Internal.
Status CheckKeyId(std::string_view key_id);
Status CheckWrappedKey(const WrappedKey& key);

}  // namespace cox::storage::kms
