// SPDX-License-Identifier: Apache-2.0
#include "apiserver/openapi/gzip.h"

#include <zlib.h>

#include "base/check.h"

namespace cox::apiserver::openapi {
namespace {

// Window bits of 15, plus 16 for a gzip header instead of zlib's.
constexpr int kWindow = 15 + 16;

Bytef* Input(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

}  // namespace

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  // The texts repeat themselves so much that higher levels gain little and cost the first request.
  constexpr int kLevel = 4;
  COX_CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = Input(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  COX_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Gunzip(std::string_view bytes) {
  z_stream stream{};
  COX_CHECK(inflateInit2(&stream, kWindow) == Z_OK);
  stream.next_in = Input(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    const size_t at = out.size();
    out.resize(at + (256 << 10));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + at);
    stream.avail_out = static_cast<uInt>(out.size() - at);
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  COX_CHECK(result == Z_STREAM_END);
  return out;
}

}  // namespace cox::apiserver::openapi
