// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "storage/encryption/encryption.h"

namespace cox::apiserver {

// Reads the file of --encryption-provider-config: an EncryptionConfiguration of
// apiserver.config.k8s.io/v1.
//
// Providers: identity, aescbc, aesgcm, secretbox, and kms of apiVersion v2. KMS v1 is refused: it
// is deprecated and off by default upstream. Errors: BadRequest, all at once, with the paths of
// what is wrong and never with a key.
Result<storage::EncryptionOptions> ParseEncryptionConfig(std::string_view text);

}  // namespace cox::apiserver
