// SPDX-License-Identifier: Apache-2.0
#include "net/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace cox::net {
namespace {

std::string Unzip(std::string_view packed, size_t room) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(room + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(GzipPieces, UnpacksToThePiecesInOrder) {
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 300'000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  const std::vector<std::vector<std::string>> cases = {
      {}, {""}, {"a"}, {"one ", "", "two"}, {std::string(1'000'000, 'x'), "end"}, {noise, noise}};
  for (const auto& texts : cases) {
    std::vector<Bytes> pieces;
    std::string whole;
    for (const std::string& text : texts) {
      pieces.push_back(Bytes(text));
      whole += text;
    }
    for (const int level : {1, 4, 9}) {
      EXPECT_EQ(Unzip(GzipPieces(pieces, level).view(), whole.size()), whole);
    }
  }
}

TEST(GzipPieces, EqualPiecesGiveEqualBytes) {
  const std::vector<Bytes> pieces = {Bytes(std::string(5000, 'a')), Bytes(std::string("b"))};
  EXPECT_EQ(GzipPieces(pieces, 4), GzipPieces(pieces, 4));
}

}  // namespace
}  // namespace cox::net
