// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/pem.h"

#include <gtest/gtest.h>

#include <vector>

namespace cox::apiserver {
namespace {

std::vector<PemBlock> All(std::string_view text) {
  std::vector<PemBlock> blocks;
  while (std::optional<PemBlock> block = NextPemBlock(text)) blocks.push_back(*block);
  return blocks;
}

TEST(PemTest, ReadsBlocksAndSkipsTextBetween) {
  auto blocks =
      All("noise\n-----BEGIN A-----\nAQ==\n-----END A-----\nmore\n"
          "-----BEGIN B C-----\r\nAg\r\n==\r\n-----END B C-----");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].type, "A");
  EXPECT_EQ(blocks[0].bytes, "\x01");
  EXPECT_FALSE(blocks[0].has_headers);
  EXPECT_EQ(blocks[1].type, "B C");
  EXPECT_EQ(blocks[1].bytes, "\x02");
}

TEST(PemTest, ReportsHeaders) {
  auto blocks = All("-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\n\nAQ==\n-----END A-----\n");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_TRUE(blocks[0].has_headers);
  EXPECT_EQ(blocks[0].bytes, "\x01");
}

TEST(PemTest, ReadsAnEmptyBlock) {
  auto blocks = All("-----BEGIN A-----\n-----END A-----\n");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].bytes, "");
}

TEST(PemTest, SkipsBrokenBlocks) {
  const std::string good = "-----BEGIN G-----\nAQ==\n-----END G-----\n";
  const std::string broken[] = {
      "-----BEGIN A\nAQ==\n-----END A-----\n",        // the BEGIN line is incomplete
      "-----BEGIN A-----\nAQ==\n-----END B-----\n",   // END of another type
      "-----BEGIN A-----\n!!\n-----END A-----\n",     // not base64
      "-----BEGIN A-----\nAQ==\n-----END A-----x\n",  // text after the END mark
      "x-----BEGIN A-----\nAQ==\n-----END A-----\n",  // not at the beginning of a line
  };
  for (const std::string& text : broken) {
    auto blocks = All(text + good);
    ASSERT_EQ(blocks.size(), 1u) << text;
    EXPECT_EQ(blocks[0].type, "G") << text;
  }
  EXPECT_TRUE(All("-----BEGIN A-----\nAQ==\n").empty());
  EXPECT_TRUE(All("").empty());
}

}  // namespace
}  // namespace cox::apiserver
