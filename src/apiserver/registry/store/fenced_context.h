// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/context.h"

// Values in the context of a write that carries a fencing token (filters/fencing/fencing.h).
namespace cox::apiserver {

// The token. The key also appears in the call's log lines.
inline constexpr std::string_view kTermKey = "term";
inline bool IsFenced(const Context& ctx) { return !ctx.Value(kTermKey).empty(); }

// The context of a read that confirms that a write would change nothing. A fenced store checks the
// term for this read, because no write follows that it could check.
inline constexpr std::string_view kInsteadOfWriteKey = "instead-of-write";
inline Context InsteadOfWrite(const Context& ctx) {
  return ctx.WithValue(kInsteadOfWriteKey, "true");
}
inline bool IsInsteadOfWrite(const Context& ctx) { return !ctx.Value(kInsteadOfWriteKey).empty(); }

}  // namespace cox::apiserver
