// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/registry/store/strategy.h"
#include "base/result.h"
#include "object/object.h"
#include "storage/watchcache/head.h"

namespace cox::apiserver {

// Decodes stored bytes to an object of the hub version, with defaults and resourceVersion set.
Result<Object> DecodeStored(const Strategy& strategy, std::string_view value,
                            storage::Revision revision);
// Extracts the uid and what selectors match; nothing if the object cannot be decoded.
void ReadHead(const Strategy& strategy, std::string_view value, storage::HeadBuilder& head);
// Returns a decoder that does the same as DecodeStored and then removes managedFields.
storage::ObjectDecoder MakeDecoder(SharedStrategy strategy);

}  // namespace cox::apiserver
