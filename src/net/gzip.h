// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

struct z_stream_s;

namespace cox::net {

// Compresses data that arrives piece by piece to one gzip member (RFC 1952), for Content-Encoding:
// gzip. The header contains no time and no name, so equal input gives equal output.
class Gzip {
 public:
  // `level` is zlib's, 1 (fast) to 9 (small).
  explicit Gzip(int level);
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  // Appends the output that is available, which may be nothing.
  void Add(std::string_view input, std::string* out);
  // Appends the rest. The last call.
  void Finish(std::string* out);

 private:
  void Run(int flush, std::string* out);

  const std::unique_ptr<z_stream_s> stream_;
};

// Compresses the concatenated pieces to one gzip member. `level` is zlib's.
Bytes GzipPieces(const std::vector<Bytes>& pieces, int level);

// Returns the uncompressed data.
// REQUIRES: `packed` came from GzipPieces. Not for untrusted input: the output size is not bounded.
std::string Gunzip(std::string_view packed);

}  // namespace cox::net
