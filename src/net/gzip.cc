// SPDX-License-Identifier: Apache-2.0
#include "net/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"

namespace cox::net {
namespace {

// 15 bits of window; + 16 selects the gzip format instead of zlib's.
constexpr int kWindow = 15 + 16;

// Deflates the input of `stream` and appends to `out`, which grows as needed.
void Run(z_stream& stream, int flush, std::string& out) {
  int result = Z_OK;
  do {
    // API objects shrink about tenfold; the caller truncates the unused rest.
    if (out.size() - stream.total_out < 64) out.resize(out.size() + out.size() / 2 + 16 * 1024);
    const size_t room =
        std::min<size_t>(out.size() - stream.total_out, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + stream.total_out);
    stream.avail_out = static_cast<uInt>(room);
    result = deflate(&stream, flush);
    COX_CHECK(result != Z_STREAM_ERROR) << "zlib lost its state";
  } while (flush == Z_FINISH ? result != Z_STREAM_END : stream.avail_in > 0);
}

}  // namespace

Bytes GzipPieces(const std::vector<Bytes>& pieces, int level) {
  size_t total = 0;
  for (const Bytes& piece : pieces) total += piece.size();
  z_stream stream{};
  const int made = deflateInit2(&stream, level, Z_DEFLATED, kWindow, 8, Z_DEFAULT_STRATEGY);
  COX_CHECK(made == Z_OK) << "deflateInit2: " << made;
  std::string out(total / 8 + 1024, '\0');
  for (const Bytes& piece : pieces) {
    std::string_view rest = piece.view();
    while (!rest.empty()) {
      const size_t size = std::min<size_t>(rest.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
      stream.avail_in = static_cast<uInt>(size);
      Run(stream, Z_NO_FLUSH, out);
      rest.remove_prefix(size);
    }
  }
  Run(stream, Z_FINISH, out);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  out.shrink_to_fit();
  return Bytes(std::move(out));
}

std::string Gunzip(std::string_view packed) {
  constexpr size_t kStep = size_t{256} * 1024;
  z_stream stream{};
  const int made = inflateInit2(&stream, kWindow);
  COX_CHECK(made == Z_OK) << "inflateInit2: " << made;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    const size_t at = out.size();
    out.resize(at + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + at);
    stream.avail_out = static_cast<uInt>(kStep);
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  COX_CHECK(result == Z_STREAM_END) << "inflate: " << result;
  return out;
}

}  // namespace cox::net
