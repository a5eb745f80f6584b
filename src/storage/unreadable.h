// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

// Values that a store holds and cannot give back: encrypted with a key that is not there, or
// damaged.
//
// One such object must not stop the others of its kind from being listed, watched and cached. So
// stores do not fail because of it: they give out, in place of the value, words that say why. No
// object's bytes begin like them, and whoever decodes objects refuses them as what they are.
namespace cox::storage {

// What every encrypted value begins with, and no object does.
inline constexpr std::string_view kEncryptedPrefix = "k8s:enc:";

namespace internal {
inline constexpr std::string_view kUnreadablePrefix = "k8s:enc:unreadable:";
}

inline Bytes UnreadableValue(std::string_view why) {
  return Bytes(std::string(internal::kUnreadablePrefix) + std::string(why));
}

// Why `value` is no object's bytes; none if it may be. Also tells values that are encrypted where
// nothing is configured to decrypt them.
inline std::optional<std::string_view> WhyUnreadable(std::string_view value) {
  if (!value.starts_with(kEncryptedPrefix)) return std::nullopt;
  if (value.starts_with(internal::kUnreadablePrefix)) {
    return value.substr(internal::kUnreadablePrefix.size());
  }
  return "identity transformer tried to read encrypted data";
}

}  // namespace cox::storage
