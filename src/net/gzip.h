// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

// RFC 1952, for Content-Encoding: gzip.
namespace cox::net {

// Compresses the concatenated pieces to one gzip member. `level` is zlib's, 1 (fast) to 9 (small).
// The header contains no time and no name, so equal input gives equal output.
Bytes GzipPieces(const std::vector<Bytes>& pieces, int level);

// Returns the uncompressed data.
// REQUIRES: `packed` came from GzipPieces. Not for untrusted input: the output size is not bounded.
std::string Gunzip(std::string_view packed);

}  // namespace cox::net
