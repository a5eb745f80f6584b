// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/transform/cipher.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sodium.h>

#include <memory>

#include "base/check.h"

namespace cox::storage {
namespace {

constexpr size_t kGcmNonce = 12;
constexpr size_t kGcmTag = 16;
constexpr size_t kBlock = 16;

struct CipherFree {
  void operator()(EVP_CIPHER_CTX* ctx) const { EVP_CIPHER_CTX_free(ctx); }
};
using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, CipherFree>;

unsigned char* Raw(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* Raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Cached, because a lookup by name costs more than the encryption of a small object.
const EVP_CIPHER* AesCipher(size_t key_size, bool gcm) {
  static EVP_CIPHER* const kCiphers[] = {
      EVP_CIPHER_fetch(nullptr, "AES-128-CBC", nullptr),
      EVP_CIPHER_fetch(nullptr, "AES-192-CBC", nullptr),
      EVP_CIPHER_fetch(nullptr, "AES-256-CBC", nullptr),
      EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr),
      EVP_CIPHER_fetch(nullptr, "AES-192-GCM", nullptr),
      EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr),
  };
  COX_CHECK(IsAesKeySize(key_size)) << "an AES key of " << key_size << " bytes";
  return kCiphers[(key_size - 16) / 8 + (gcm ? 3 : 0)];
}

CipherPtr Begin(const EVP_CIPHER* cipher, const KeyBytes& key, const unsigned char* nonce,
                bool encrypt) {
  CipherPtr ctx(EVP_CIPHER_CTX_new());
  COX_CHECK(ctx != nullptr && EVP_CipherInit_ex2(ctx.get(), cipher, Raw(key.view()), nonce,
                                                 encrypt ? 1 : 0, nullptr) == 1)
      << "AES is not to be had";
  return ctx;
}

Status TooShort() { return Status::Internal("the stored data was shorter than the required size"); }

// Without sodium_init, libsodium uses the slow generic implementations.
void InitSodium() {
  static const bool ready = sodium_init() >= 0;
  COX_CHECK(ready) << "libsodium does not start";
}

}  // namespace

KeyBytes KeyBytes::Random(size_t size) { return KeyBytes(RandomBytes(size)); }

void KeyBytes::Wipe() {
  // Wipe the bytes in place, before clear() drops the size.
  if (!bytes_.empty()) OPENSSL_cleanse(bytes_.data(), bytes_.size());
  bytes_.clear();
}

bool IsAesKeySize(size_t size) { return size == 16 || size == 24 || size == 32; }

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  COX_CHECK(RAND_bytes(Raw(bytes.data()), static_cast<int>(size)) == 1) << "no randomness";
  return bytes;
}

std::string Sha256(std::string_view bytes) {
  std::string digest(32, '\0');
  COX_CHECK(EVP_Digest(bytes.data(), bytes.size(), Raw(digest.data()), nullptr, EVP_sha256(),
                       nullptr) == 1);
  return digest;
}

std::string RandomUuid() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string bytes = RandomBytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string id;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) id += '-';
    id += kDigits[static_cast<unsigned char>(bytes[i]) >> 4];
    id += kDigits[static_cast<unsigned char>(bytes[i]) & 15];
  }
  return id;
}

void AppendGcm(const KeyBytes& key, std::string_view plain, std::string_view aad,
               std::string* out) {
  const std::string nonce = RandomBytes(kGcmNonce);
  const CipherPtr ctx = Begin(AesCipher(key.size(), true), key, Raw(nonce), true);
  const size_t at = out->size() + kGcmNonce;
  out->append(nonce).append(plain.size() + kGcmTag, '\0');
  unsigned char* to = Raw(out->data() + at);
  int size = 0;
  bool good = EVP_CipherUpdate(ctx.get(), nullptr, &size, Raw(aad), static_cast<int>(aad.size())) &&
              EVP_CipherUpdate(ctx.get(), to, &size, Raw(plain), static_cast<int>(plain.size()));
  good = good && EVP_CipherFinal_ex(ctx.get(), to + plain.size(), &size) == 1;
  good = good && EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, kGcmTag, to + plain.size());
  COX_CHECK(good) << "AES-GCM failed";
}

Result<std::string> OpenGcm(const KeyBytes& key, std::string_view sealed, std::string_view aad) {
  if (sealed.size() < kGcmNonce + kGcmTag) return TooShort();
  const CipherPtr ctx = Begin(AesCipher(key.size(), true), key, Raw(sealed), false);
  const std::string_view text = sealed.substr(kGcmNonce, sealed.size() - kGcmNonce - kGcmTag);
  std::string tag(sealed.substr(sealed.size() - kGcmTag));
  std::string plain(text.size(), '\0');
  int size = 0;
  const bool good =
      EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_SET_TAG, kGcmTag, tag.data()) == 1 &&
      EVP_CipherUpdate(ctx.get(), nullptr, &size, Raw(aad), static_cast<int>(aad.size())) == 1 &&
      EVP_CipherUpdate(ctx.get(), Raw(plain.data()), &size, Raw(text),
                       static_cast<int>(text.size())) == 1 &&
      EVP_CipherFinal_ex(ctx.get(), Raw(plain.data()) + size, &size) == 1;
  if (good) return plain;
  // Wipe the unauthenticated plaintext.
  OPENSSL_cleanse(plain.data(), plain.size());
  return Status::Internal("cipher: message authentication failed");
}

void AppendCbc(const KeyBytes& key, std::string_view plain, std::string* out) {
  const std::string iv = RandomBytes(kBlock);
  const CipherPtr ctx = Begin(AesCipher(key.size(), false), key, Raw(iv), true);
  const size_t at = out->size() + kBlock;
  out->append(iv).append(plain.size() / kBlock * kBlock + kBlock, '\0');
  unsigned char* to = Raw(out->data() + at);
  int size = 0, rest = 0;
  const bool good =
      EVP_CipherUpdate(ctx.get(), to, &size, Raw(plain), static_cast<int>(plain.size())) == 1 &&
      EVP_CipherFinal_ex(ctx.get(), to + size, &rest) == 1;
  COX_CHECK(good && at + static_cast<size_t>(size + rest) == out->size()) << "AES-CBC failed";
}

Result<std::string> OpenCbc(const KeyBytes& key, std::string_view sealed) {
  if (sealed.size() < kBlock) return TooShort();
  const std::string_view text = sealed.substr(kBlock);
  if (text.size() % kBlock != 0) {
    return Status::Internal("the stored data is not a multiple of the block size");
  }
  if (text.empty()) return Status::Internal("invalid PKCS7 data (empty or not padded)");
  const CipherPtr ctx = Begin(AesCipher(key.size(), false), key, Raw(sealed), false);
  std::string plain(text.size() + kBlock, '\0');
  int size = 0, rest = 0;
  const bool good = EVP_CipherUpdate(ctx.get(), Raw(plain.data()), &size, Raw(text),
                                     static_cast<int>(text.size())) == 1 &&
                    EVP_CipherFinal_ex(ctx.get(), Raw(plain.data()) + size, &rest) == 1;
  if (!good) {
    OPENSSL_cleanse(plain.data(), plain.size());
    return Status::Internal("invalid padding on input");
  }
  plain.resize(static_cast<size_t>(size) + static_cast<size_t>(rest));
  return plain;
}

void AppendSecretbox(const KeyBytes& key, std::string_view plain, std::string* out) {
  InitSodium();
  COX_CHECK(key.size() == kSecretboxKeySize);
  const std::string nonce = RandomBytes(crypto_secretbox_NONCEBYTES);
  const size_t at = out->size() + nonce.size();
  out->append(nonce).append(crypto_secretbox_MACBYTES + plain.size(), '\0');
  COX_CHECK(crypto_secretbox_easy(Raw(out->data() + at), Raw(plain), plain.size(), Raw(nonce),
                                  Raw(key.view())) == 0);
}

Result<std::string> OpenSecretbox(const KeyBytes& key, std::string_view sealed) {
  InitSodium();
  COX_CHECK(key.size() == kSecretboxKeySize);
  constexpr size_t kOverhead = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
  if (sealed.size() < kOverhead) return TooShort();
  const std::string_view box = sealed.substr(crypto_secretbox_NONCEBYTES);
  std::string plain(sealed.size() - kOverhead, '\0');
  if (crypto_secretbox_open_easy(Raw(plain.data()), Raw(box), box.size(), Raw(sealed),
                                 Raw(key.view())) != 0) {
    // Upstream's text, although it does not describe the problem; users search for it.
    return Status::Internal("output array was not large enough for encryption");
  }
  return plain;
}

KeyBytes HkdfExpand(const KeyBytes& seed, std::string_view info) {
  // One round yields the 32 bytes of SHA-256, which are sufficient.
  const std::string message = std::string(info) + '\x01';
  std::string key(32, '\0');
  unsigned int size = 0;
  COX_CHECK(HMAC(EVP_sha256(), seed.view().data(), static_cast<int>(seed.size()), Raw(message),
                 message.size(), Raw(key.data()), &size) != nullptr &&
            size == key.size());
  KeyBytes derived(std::move(key));
  return derived;
}

}  // namespace cox::storage
