// SPDX-License-Identifier: Apache-2.0
#include "base/memory_trim.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace cox {
namespace {

long FileKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stol(line.substr(8));
  }
  return 0;
}

TEST(TrimMemoryTest, ReducesResidentFilePages) {
  const long before = FileKilobytes();
  ASSERT_GT(before, 0);
  TrimMemory();
  EXPECT_LT(FileKilobytes(), before);
  for (int i = 0; i < 3; ++i) TrimMemory();
  EXPECT_EQ(std::to_string(12) + std::string(100, 'x').substr(99), "12x");
}

}  // namespace
}  // namespace cox
