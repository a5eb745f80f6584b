// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

// The ciphers of encryption at rest, in Kubernetes' storage layouts. Each Append… function uses a
// new random nonce and appends to `out`; each Open… function returns the plaintext or an error with
// upstream's text, which is visible to users.
//
// Threads: all functions may be called concurrently.
namespace cox::storage {

// Key material, wiped from memory on destruction.
class KeyBytes {
 public:
  KeyBytes() = default;
  explicit KeyBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  KeyBytes(const KeyBytes&) = default;
  // Copies, because the moved-from string would keep the bytes of a short key.
  // NOLINTNEXTLINE(performance-move-constructor-init)
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

inline constexpr size_t kSeedSize = 32;  // seed size of HkdfExpand
inline constexpr size_t kSecretboxKeySize = 32;
// 16, 24 or 32: AES-128, -192, -256.
bool IsAesKeySize(size_t size);

// Cryptographically random.
std::string RandomBytes(size_t size);
std::string Sha256(std::string_view bytes);
// A version 4 UUID, for IDs of calls and processes. Not for secrets.
std::string RandomUuid();

// AES-GCM: nonce (12), ciphertext, tag (16). `aad` is authenticated and not stored.
// REQUIRES: IsAesKeySize(key.size())
void AppendGcm(const KeyBytes& key, std::string_view plain, std::string_view aad, std::string* out);
Result<std::string> OpenGcm(const KeyBytes& key, std::string_view sealed, std::string_view aad);

// AES-CBC: IV (16), ciphertext with PKCS #7 padding. Security: not authenticated, so manipulated
// bytes may decrypt to garbage; prefer the other ciphers.
// REQUIRES: IsAesKeySize(key.size())
void AppendCbc(const KeyBytes& key, std::string_view plain, std::string* out);
Result<std::string> OpenCbc(const KeyBytes& key, std::string_view sealed);

// XSalsa20 with Poly1305: nonce (24), tag (16), ciphertext.
// REQUIRES: key.size() == kSecretboxKeySize
void AppendSecretbox(const KeyBytes& key, std::string_view plain, std::string* out);
Result<std::string> OpenSecretbox(const KeyBytes& key, std::string_view sealed);

// The expand step of HKDF with SHA-256: derives a 32-byte key for `info` from a random seed.
KeyBytes HkdfExpand(const KeyBytes& seed, std::string_view info);

}  // namespace cox::storage
