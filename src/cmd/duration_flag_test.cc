// SPDX-License-Identifier: Apache-2.0
#include "cmd/duration_flag.h"

#include <gtest/gtest.h>

namespace cox::cmd {
namespace {

constexpr FlagInfo kFlags[] = {{"Times", "period", "duration", "1h30m", "how often"}};

Result<std::chrono::seconds> Parsed(std::string argument) {
  char* pointer = argument.data();
  const Result<Flags> flags = Flags::Parse(kFlags, {&pointer, 1});
  if (!flags.ok()) return flags.status();
  return SecondsOf(*flags, "period");
}

TEST(DurationFlag, RoundsUpToWholeSeconds) {
  EXPECT_EQ(SecondsOf(*Flags::Parse(kFlags, {}), "period")->count(), 5400);
  EXPECT_EQ(Parsed("--period=30s")->count(), 30);
  EXPECT_EQ(Parsed("--period=1ms")->count(), 1);
  EXPECT_EQ(Parsed("--period=0")->count(), 0);
}

TEST(DurationFlag, ErrorNamesTheFlag) {
  EXPECT_EQ(Parsed("--period=soon").status().message(),
            "--period must be a duration such as 30s or 1h, not soon");
  EXPECT_FALSE(Parsed("--period=-1s").ok());
}

}  // namespace
}  // namespace cox::cmd
