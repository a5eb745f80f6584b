// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "storage/encryption/encryption.h"

namespace cox::apiserver {

// Parses the file of --encryption-provider-config: an EncryptionConfiguration of
// apiserver.config.k8s.io/v1.
//
// Providers: identity, aescbc, aesgcm, secretbox, and kms with apiVersion v2. KMS v1 is rejected:
// it is deprecated and disabled by default upstream.
// Errors: BadRequest with the paths of all invalid fields, never with a key.
Result<storage::EncryptionOptions> ParseEncryptionConfig(std::string_view text);

}  // namespace cox::apiserver
