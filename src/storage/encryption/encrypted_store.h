// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "storage/encryption/transformer_slot.h"
#include "storage/store.h"

namespace cox::storage {

// A Store decorator that encrypts values on write and decrypts them on read, with the current
// transformer of `slot`. Keys and revisions are those of the underlying store.
//
// A value that cannot be decrypted is returned as UnreadableValue (unreadable.h), so that other
// values stay readable. When the slot changes after such values were returned, watches end with
// Expired, so that a cache above lists again and gets the readable values.
// KeyValue::stale marks values that an update should rewrite.
//
// Ownership: `under` outlives it.
// Threads: as Store.
// Errors: as Store. Internal, with upstream's text, if a value cannot be encrypted; then nothing is
//   written.
std::unique_ptr<Store> NewEncryptedStore(Store& under, std::shared_ptr<TransformerSlot> slot);

}  // namespace cox::storage
