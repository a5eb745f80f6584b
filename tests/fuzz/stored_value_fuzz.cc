// SPDX-License-Identifier: Apache-2.0
// Decrypts any bytes as a stored value. Only unauthenticated ciphers can succeed by chance; a
// parsed KMS envelope is a fixed point.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "storage/encryption/kms/messages.h"
#include "storage/encryption/transform/transformer.h"

namespace {

using namespace cox;
using namespace cox::storage;

std::vector<EncryptionKey> Keys() {
  return {{"a", KeyBytes(std::string(32, 'a'))}, {"", KeyBytes(std::string(32, 'b'))}};
}

void TryCiphers(std::string_view bytes) {
  static RealClock clock;
  static Context ctx(clock);
  static const TransformerPtr sealed = NewPrefixChain(
      {NewAesGcmProvider(Keys()), NewSecretboxProvider(Keys())}, "no matching prefix found");
  static const TransformerPtr open = NewPrefixChain(
      {NewAesCbcProvider(Keys()), NewIdentityProvider()}, "no matching prefix found");
  if (sealed->Open(ctx, Bytes::Copy(bytes), "/key").ok()) std::abort();
  static_cast<void>(open->Open(ctx, Bytes::Copy(bytes), "/key").ok());
}

void TryEnvelope(std::string_view bytes) {
  Result<kms::EncryptedObject> object = kms::ParseEncryptedObject(bytes);
  if (!object.ok()) return;
  std::string once;
  kms::AppendEncryptedObject(*object, &once);
  Result<kms::EncryptedObject> again = kms::ParseEncryptedObject(once);
  if (!again.ok()) std::abort();
  std::string twice;
  kms::AppendEncryptedObject(*again, &twice);
  if (twice != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  TryCiphers(bytes);
  TryEnvelope(bytes);
  return 0;
}
