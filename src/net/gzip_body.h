// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "net/http.h"

namespace cox::net {

// Compresses a streamed body, for Content-Encoding: gzip. It reads ahead no more than one pull of
// `source` at a time, and output may lag behind input by some 100 KB: not for watches.
// `level` is zlib's, 1 (fast) to 9 (small).
std::unique_ptr<BodySource> MakeGzipBody(std::unique_ptr<BodySource> source, int level);

}  // namespace cox::net
