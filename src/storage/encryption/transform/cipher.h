// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

// The ciphers of encryption at rest, in the layouts Kubernetes stores. Each Append… takes a fresh
// random nonce and appends to `out`; each Open… gives the plaintext back or says, in upstream's
// words, why it cannot: those words reach users.
//
// Threads: all functions may be called concurrently.
namespace cox::storage {

// Key material. Overwritten when it goes away.
class KeyBytes {
 public:
  KeyBytes() = default;
  explicit KeyBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  KeyBytes(const KeyBytes&) = default;
  KeyBytes(KeyBytes&& other) noexcept : bytes_(other.bytes_) { other.Wipe(); }
  KeyBytes& operator=(KeyBytes other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~KeyBytes() { Wipe(); }

  static KeyBytes Random(size_t size);

  std::string_view view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  void Wipe();

  std::string bytes_;
};

inline constexpr size_t kSeedSize = 32;  // of HkdfExpand
inline constexpr size_t kSecretboxKeySize = 32;
// 16, 24 or 32: AES-128, -192, -256.
bool IsAesKeySize(size_t size);

// Cryptographically random.
std::string RandomBytes(size_t size);
std::string Sha256(std::string_view bytes);
// A version 4 UUID: names calls and processes, keeps nothing secret.
std::string RandomUuid();

// AES-GCM: nonce (12), ciphertext, tag (16). `aad` is authenticated and not stored.
// REQUIRES: IsAesKeySize(key.size())
void AppendGcm(const KeyBytes& key, std::string_view plain, std::string_view aad, std::string* out);
Result<std::string> OpenGcm(const KeyBytes& key, std::string_view sealed, std::string_view aad);

// AES-CBC: IV (16), ciphertext padded as PKCS #7 says. Not authenticated: bytes that were tampered
// with may open to garbage, which is why others are to be preferred.
// REQUIRES: IsAesKeySize(key.size())
void AppendCbc(const KeyBytes& key, std::string_view plain, std::string* out);
Result<std::string> OpenCbc(const KeyBytes& key, std::string_view sealed);

// XSalsa20 with Poly1305: nonce (24), tag (16), ciphertext.
// REQUIRES: key.size() == kSecretboxKeySize
void AppendSecretbox(const KeyBytes& key, std::string_view plain, std::string* out);
Result<std::string> OpenSecretbox(const KeyBytes& key, std::string_view sealed);

// HKDF's second step with SHA-256: a key of 32 bytes that `info` names, from a random seed.
KeyBytes HkdfExpand(const KeyBytes& seed, std::string_view info);

}  // namespace cox::storage
