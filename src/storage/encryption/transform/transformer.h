// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/context.h"
#include "base/result.h"
#include "storage/encryption/transform/cipher.h"
#include "storage/encryption/transform/metrics.h"

namespace cox::storage {

// Transforms values to their stored form and back.
//
// `key` is the storage key of the value. Transformers with authenticated data bind the value to it,
// so that a value that was copied to another key in etcd cannot be decrypted there.
// Threads: all methods may be called concurrently. They may block while a key is fetched from a
//   KMS, until `ctx` ends at the latest.
// Errors: Internal, with upstream's text and without any part of the value.
class Transformer {
 public:
  struct Plain {
    Bytes value;
    bool stale = false;  // an update would store it differently
  };

  virtual ~Transformer() = default;

  // Appends the stored form.
  virtual Status Seal(Context& ctx, std::string_view value, std::string_view key,
                      std::string* out) = 0;
  virtual Result<Plain> Open(Context& ctx, const Bytes& stored, std::string_view key) = 0;
};
using TransformerPtr = std::shared_ptr<Transformer>;

// A transformer, selected by the prefix of the stored bytes.
struct PrefixedTransformer {
  std::string prefix;  // empty: values that are not encrypted
  TransformerPtr transformer;
};

// Writes with the first transformer, reads with any whose prefix matches; values that were not
// written by the first are stale. Several may have the same prefix (during key rotation); the first
// one that decrypts the value wins.
//
// `no_match` is the error for values without a matching prefix. `metrics`, if given, count each
// operation.
TransformerPtr NewPrefixChain(std::vector<PrefixedTransformer> transformers, std::string no_match,
                              std::shared_ptr<TransformationMetrics> metrics = nullptr);

struct EncryptionKey {
  std::string name;  // part of the stored prefix
  KeyBytes secret;
};

// Providers with their prefixes: "k8s:enc:aescbc:v1:" and so on, then the key's name and a colon.
// REQUIRES: at least one key each, of a size that the cipher supports.
PrefixedTransformer NewAesGcmProvider(std::vector<EncryptionKey> keys);
PrefixedTransformer NewAesCbcProvider(std::vector<EncryptionKey> keys);
PrefixedTransformer NewSecretboxProvider(std::vector<EncryptionKey> keys);
// Stores values unchanged; rejects encrypted values.
PrefixedTransformer NewIdentityProvider();

}  // namespace cox::storage
