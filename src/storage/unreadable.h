// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

// Stored values that cannot be read: the encryption key is missing, or the value is damaged.
//
// One unreadable object must not block list, watch and cache for the other objects of its resource.
// Therefore stores do not fail: in place of the value they return a marker that contains the
// reason. No encoded object begins with this marker, and decoders reject it with that reason.
namespace cox::storage {

// Every encrypted value begins with this prefix; no encoded object does.
inline constexpr std::string_view kEncryptedPrefix = "k8s:enc:";

namespace internal {
inline constexpr std::string_view kUnreadablePrefix = "k8s:enc:unreadable:";
}

inline Bytes UnreadableValue(std::string_view why) {
  return Bytes(std::string(internal::kUnreadablePrefix) + std::string(why));
}

// Returns the reason why `value` is unreadable, or nullopt if it may be an encoded object. Also
// detects encrypted values when no decryption is configured.
inline std::optional<std::string_view> WhyUnreadable(std::string_view value) {
  if (!value.starts_with(kEncryptedPrefix)) return std::nullopt;
  if (value.starts_with(internal::kUnreadablePrefix)) {
    return value.substr(internal::kUnreadablePrefix.size());
  }
  return "identity transformer tried to read encrypted data";
}

}  // namespace cox::storage
