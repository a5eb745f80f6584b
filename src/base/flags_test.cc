// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <gtest/gtest.h>

namespace cox {
namespace {

constexpr FlagInfo kFlags[] = {
    {"First", "name", "string", "nobody", "who it is"},
    {"First", "loud", "", "false", "shout"},
    {"First", "quiet", "", "true", "do not"},
    {"Second", "port", "int", "6443", "where to listen"},
    {"Second", "v", "int", "0", "how much to say"},
    {"Second", "list", "strings", "", "several", true},
    {"Second", "a-name-that-is-longer-than-the-column-of-helps", "string", "", "far right"},
};

Result<Flags> Parse(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return Flags::Parse(kFlags, pointers);
}

TEST(Flags, ParseAllFormsOfValues) {
  Result<Flags> flags = Parse({"--name=a", "--port", "8080", "--loud", "--list=x,y"});
  ASSERT_TRUE(flags.ok()) << flags.status().message();
  EXPECT_EQ(flags->Get("name"), "a");
  EXPECT_EQ(*flags->GetInt("port", 0, 65535), 8080);
  EXPECT_TRUE(flags->GetBool("loud"));
  EXPECT_EQ(flags->GetList("list"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(Parse({"--name="})->Get("name"), "");
  EXPECT_EQ(Parse({"--name=a=b"})->Get("name"), "a=b");
  EXPECT_FALSE(Parse({"--quiet=false"})->GetBool("quiet"));
}

TEST(Flags, VerbosityHasAShortForm) {
  EXPECT_EQ(Parse({"-v=4"})->Get("v"), "4");
  EXPECT_EQ(Parse({"-v", "4", "--loud"})->Get("v"), "4");
  EXPECT_FALSE(Parse({"-verbose"}).ok());
}

TEST(Flags, MissingFlagsHaveDefaults) {
  Result<Flags> flags = Parse({});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->Get("name"), "nobody");
  EXPECT_FALSE(flags->Has("name"));
  EXPECT_TRUE(flags->GetBool("quiet"));
  EXPECT_FALSE(flags->GetBool("loud"));
  EXPECT_EQ(*flags->GetInt("port", 0, 65535), 6443);
  EXPECT_TRUE(flags->GetList("list").empty());
  EXPECT_EQ(flags->Get("unknown"), "");
}

TEST(Flags, RepeatedFlagsAreJoined) {
  EXPECT_EQ(Parse({"--list=a", "--list", "b,c"})->GetList("list"),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(Parse({"--name=a", "--name=b"})->Get("name"), "a,b");
}

TEST(Flags, RejectUnknownFlagsAndArguments) {
  const struct {
    std::vector<std::string> arguments;
    std::string_view want;
  } kCases[] = {
      {{"--nope"}, "unknown flag: --nope; see --help"},
      {{"--nope=1"}, "unknown flag: --nope; see --help"},
      {{"--"}, "unknown flag: --; see --help"},
      {{"word"}, "unexpected argument \"word\": flags begin with two dashes; see --help"},
      {{"-name=x"}, "unexpected argument \"-name=x\": flags begin with two dashes; see --help"},
      {{"--name"}, "flag needs a value: --name"},
      {{"--loud", "false"},
       "unexpected argument \"false\": flags begin with two dashes; see --help"},
  };
  for (const auto& c : kCases) {
    Result<Flags> flags = Parse(c.arguments);
    ASSERT_FALSE(flags.ok()) << c.arguments[0];
    EXPECT_EQ(flags.status().message(), c.want);
  }
}

TEST(Flags, IntegersAreRangeChecked) {
  for (std::string_view bad : {"x", "", "70000", "-1", "80x", "1.5"}) {
    Result<Flags> flags = Parse({"--port=" + std::string(bad)});
    ASSERT_TRUE(flags.ok());
    EXPECT_EQ(flags->GetInt("port", 0, 65535).status().message(),
              "--port=" + std::string(bad) + ": want a number from 0 to 65535");
  }
  EXPECT_EQ(*Parse({"--port=65535"})->GetInt("port", 0, 65535), 65535);
}

TEST(Flags, HelpHasLongAndShortForm) {
  EXPECT_TRUE(Parse({"--help"})->help());
  EXPECT_TRUE(Parse({"-h"})->help());
  EXPECT_FALSE(Parse({})->help());
}

TEST(FlagsHelp, ListsFlagsBySectionWithDefaultsAndMarks) {
  EXPECT_EQ(FlagsHelp("Intro.\n", kFlags),
            "Intro.\n"
            "\nFirst flags:\n\n"
            "      --name string                             who it is (default nobody)\n"
            "      --loud                                    shout\n"
            "      --quiet                                   do not (default true)\n"
            "\nSecond flags:\n\n"
            "      --port int                                where to listen (default 6443)\n"
            "  -v, --v int                                   how much to say (default 0)\n"
            "      --list strings                            several (accepted, no effect)\n"
            "      --a-name-that-is-longer-than-the-column-of-helps string far right\n");
}

}  // namespace
}  // namespace cox
