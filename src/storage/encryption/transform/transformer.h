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

// Turns values into what rests in the store, and back.
//
// `key` is where the value is stored. Transformers that can do so bind the two together, so that a
// value which somebody moved to another key of etcd does not open there.
// Threads: all methods may be called concurrently. They may block where a key is fetched from
//   elsewhere, no longer than `ctx` lasts.
// Errors: Internal, with upstream's words and nothing of the value.
class Transformer {
 public:
  struct Plain {
    Bytes value;
    bool stale = false;  // not as it would be written now
  };

  virtual ~Transformer() = default;

  // Appends the stored form.
  virtual Status Seal(Context& ctx, std::string_view value, std::string_view key,
                      std::string* out) = 0;
  virtual Result<Plain> Open(Context& ctx, const Bytes& stored, std::string_view key) = 0;
};
using TransformerPtr = std::shared_ptr<Transformer>;

// One of several ways to store, told by what the stored bytes begin with.
struct PrefixedTransformer {
  std::string prefix;  // empty: of values that are not encrypted
  TransformerPtr transformer;
};

// Writes with the first, reads with any whose prefix fits; what was not written by the first is
// stale. Several may have the same prefix (a key that is rotated away from): the first that opens
// the value wins.
//
// `no_match` is the error for values that nobody fits. Where `metrics` are given, each operation
// counts in them.
TransformerPtr NewPrefixChain(std::vector<PrefixedTransformer> transformers, std::string no_match,
                              std::shared_ptr<TransformationMetrics> metrics = nullptr);

struct EncryptionKey {
  std::string name;  // stands in the stored bytes
  KeyBytes secret;
};

// Providers with their prefixes: "k8s:enc:aescbc:v1:" and so on, then the key's name and a colon.
// REQUIRES: at least one key each, of a size that the cipher takes.
PrefixedTransformer NewAesGcmProvider(std::vector<EncryptionKey> keys);
PrefixedTransformer NewAesCbcProvider(std::vector<EncryptionKey> keys);
PrefixedTransformer NewSecretboxProvider(std::vector<EncryptionKey> keys);
// Values as they are; refuses those that are encrypted.
PrefixedTransformer NewIdentityProvider();

}  // namespace cox::storage
