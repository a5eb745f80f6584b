// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cox::apiserver {

// One block of a PEM text.
struct PemBlock {
  std::string type;  // "CERTIFICATE REQUEST"
  bool has_headers = false;
  std::string bytes;
};

// Returns the next complete block of `rest` and advances `rest` past it. Other text and broken
// blocks are skipped, as Go's decoder does. nullopt: there is no further block, and `rest` is
// unchanged. Text outside of blocks is no error, so callers that do not allow it must compare
// sizes.
std::optional<PemBlock> NextPemBlock(std::string_view& rest);

}  // namespace cox::apiserver
