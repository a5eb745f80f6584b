// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "storage/encryption/transformer_slot.h"
#include "storage/store.h"

namespace cox::storage {

// A Store over a Store that encrypts what is written and decrypts what is read, as `slot` says at
// that moment. Keys, revisions and everything else are those of the store underneath.
//
// A value that does not open is given out as UnreadableValue (unreadable.h) and fails nothing else.
// When the slot changes and such values were given out, watches end with Expired: a cache above
// lists again and has them readable.
// KeyValue::stale tells values that an update should write anew.
//
// Ownership: `under` outlives it.
// Threads, errors: as Store. Internal, with upstream's text, when a value cannot be encrypted:
//   nothing is written then.
std::unique_ptr<Store> NewEncryptedStore(Store& under, std::shared_ptr<TransformerSlot> slot);

}  // namespace cox::storage
