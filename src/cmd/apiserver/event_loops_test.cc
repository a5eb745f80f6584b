// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/event_loops.h"

#include <gtest/gtest.h>

#include <string>

#include "base/usable_cpus.h"
#include "cmd/apiserver/flag_table.h"

namespace cox::cmd {
namespace {

Result<int> LoopsWith(std::string argument) {
  char* pointer = argument.data();
  const Result<Flags> flags = Flags::Parse(ApiServerFlags(), {&pointer, 1});
  if (!flags.ok()) return flags.status();
  return EventLoopsFrom(*flags);
}

TEST(EventLoops, FlagSetsTheNumber) {
  EXPECT_EQ(*LoopsWith("--http-event-loops=1"), 1);
  EXPECT_EQ(*LoopsWith("--http-event-loops=7"), 7);
}

TEST(EventLoops, DefaultIsOnePerCpuAndAtLeastTwo) {
  EXPECT_EQ(*EventLoopsFrom(*Flags::Parse(ApiServerFlags(), {})), DefaultEventLoops(UsableCpus()));
  EXPECT_EQ(*LoopsWith("--http-event-loops=0"), DefaultEventLoops(UsableCpus()));
  EXPECT_EQ(DefaultEventLoops(1), 2);
  EXPECT_EQ(DefaultEventLoops(2), 2);
  EXPECT_EQ(DefaultEventLoops(48), 48);
}

TEST(EventLoops, InvalidNumberIsAnError) {
  for (const char* text : {"-1", "1025", "two", ""}) {
    const Result<int> loops = LoopsWith("--http-event-loops=" + std::string(text));
    EXPECT_TRUE(loops.status().Is(Reason::kBadRequest)) << text;
    EXPECT_NE(loops.status().message().find("--http-event-loops"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace cox::cmd
