// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/bytes.h"

namespace cox::net {

// The pieces, one after the other, as one gzip member. `level` as zlib's, 1 (fast) to 9 (small).
// The header carries no time and no name: equal pieces give equal bytes.
Bytes GzipPieces(const std::vector<Bytes>& pieces, int level);

}  // namespace cox::net
