// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

// RFC 1952, as Content-Encoding: gzip wants it.
namespace cox::net {

// The pieces, one after the other, as one gzip member. `level` as zlib's, 1 (fast) to 9 (small).
// The header carries no time and no name: equal pieces give equal bytes.
Bytes GzipPieces(const std::vector<Bytes>& pieces, int level);

// What was packed.
// REQUIRES: `packed` came from GzipPieces. Not for what peers send: its size is not bounded.
std::string Gunzip(std::string_view packed);

}  // namespace cox::net
