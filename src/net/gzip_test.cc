// SPDX-License-Identifier: Apache-2.0
#include "net/gzip.h"

#include <gtest/gtest.h>

#include <string>

namespace cox::net {
namespace {

TEST(GzipPieces, GunzipReturnsThePiecesInOrder) {
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
      EXPECT_EQ(Gunzip(GzipPieces(pieces, level).view()), whole);
    }
  }
}

TEST(GzipPieces, OutputIsDeterministic) {
  const std::vector<Bytes> pieces = {Bytes(std::string(5000, 'a')), Bytes(std::string("b"))};
  EXPECT_EQ(GzipPieces(pieces, 4), GzipPieces(pieces, 4));
}

}  // namespace
}  // namespace cox::net
