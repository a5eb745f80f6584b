// SPDX-License-Identifier: Apache-2.0
#include "net/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/check.h"

namespace cox::net {
namespace {

// 15 bits of window; + 16 selects the gzip format instead of zlib's.
constexpr int kWindow = 15 + 16;

}  // namespace

Gzip::Gzip(int level) : stream_(std::make_unique<z_stream>()) {
  const int made = deflateInit2(stream_.get(), level, Z_DEFLATED, kWindow, 8, Z_DEFAULT_STRATEGY);
  COX_CHECK(made == Z_OK) << "deflateInit2: " << made;
}

Gzip::~Gzip() { deflateEnd(stream_.get()); }

void Gzip::Add(std::string_view input, std::string* out) {
  while (!input.empty()) {
    const size_t size = std::min<size_t>(input.size(), std::numeric_limits<uInt>::max());
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_->avail_in = static_cast<uInt>(size);
    Run(Z_NO_FLUSH, out);
    input.remove_prefix(size);
  }
}

void Gzip::Finish(std::string* out) {
  stream_->avail_in = 0;
  Run(Z_FINISH, out);
}

void Gzip::Run(int flush, std::string* out) {
  int result = Z_OK;
  do {
    // API objects shrink about tenfold.
    const size_t size = out->size();
    const size_t room = std::max<size_t>(stream_->avail_in / 8, 16 * 1024);
    out->resize(size + room);
    stream_->next_out = reinterpret_cast<Bytef*>(out->data() + size);
    stream_->avail_out = static_cast<uInt>(room);
    result = deflate(stream_.get(), flush);
    COX_CHECK(result != Z_STREAM_ERROR) << "zlib lost its state";
    out->resize(size + room - stream_->avail_out);
  } while (flush == Z_FINISH ? result != Z_STREAM_END : stream_->avail_in > 0);
}

Bytes GzipPieces(const std::vector<Bytes>& pieces, int level) {
  size_t total = 0;
  for (const Bytes& piece : pieces) total += piece.size();
  std::string out;
  out.reserve(total / 8 + 1024);
  Gzip gzip(level);
  for (const Bytes& piece : pieces) gzip.Add(piece.view(), &out);
  gzip.Finish(&out);
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
