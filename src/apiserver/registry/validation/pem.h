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

// The next whole block of `rest`, which is moved behind it. What is no block, or a broken one, is
// skipped, as Go's decoder does. None: there is no further block, and `rest` stays as it is.
// Text outside blocks is no error, so callers that want none must compare sizes themselves.
std::optional<PemBlock> NextPemBlock(std::string_view& rest);

}  // namespace cox::apiserver
