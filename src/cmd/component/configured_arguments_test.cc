// SPDX-License-Identifier: Apache-2.0
#include "cmd/component/configured_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace cox::cmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using NamedFlags = ConfiguredArguments::NamedFlags;

class ConfiguredArgumentsTest : public testing::Test {
 protected:
  ConfiguredArgumentsTest() {
    std::string folder = testing::TempDir() + "/configured.XXXXXX";
    folder_ = ::mkdtemp(folder.data());
    file_ = folder_ / "config.yaml";
    std::ofstream(file_) << "text";
  }
  ~ConfiguredArgumentsTest() override { std::filesystem::remove_all(folder_); }

  Result<ConfiguredArguments> From(std::vector<std::string> arguments) {
    given_ = std::move(arguments);
    std::vector<char*> pointers;
    for (std::string& argument : given_) pointers.push_back(argument.data());
    return ConfiguredArguments::From(pointers, [this](std::string_view text) {
      read_ = text;
      return says_;
    });
  }
  static std::vector<std::string> Texts(const ConfiguredArguments& configured) {
    return {configured.all().begin(), configured.all().end()};
  }

  std::filesystem::path folder_, file_;
  Result<NamedFlags> says_ = NamedFlags{{"v", "2"}, {"leader-elect", "false"}};
  std::string read_;
  std::vector<std::string> given_;
};

TEST_F(ConfiguredArgumentsTest, WithoutFileArgumentsAreUnchanged) {
  const auto configured = From({"--v=4", "--config="});
  ASSERT_TRUE(configured.ok());
  EXPECT_THAT(Texts(*configured), ElementsAre("--v=4", "--config="));
  EXPECT_EQ(configured->path(), "");
  EXPECT_EQ(read_, "");
}

TEST_F(ConfiguredArgumentsTest, FlagsOfFileAreAddedUnlessGiven) {
  const auto configured = From({"--config", file_, "--v=4"});
  ASSERT_TRUE(configured.ok()) << configured.status().message();
  EXPECT_EQ(read_, "text");
  EXPECT_EQ(configured->path(), file_);
  EXPECT_THAT(Texts(*configured),
              ElementsAre("--config", file_.string(), "--v=4", "--leader-elect=false"));
  const auto other = From({"--config=" + file_.string(), "--v", "4", "--leader-elect"});
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(Texts(*other).size(), 4U);
}

TEST_F(ConfiguredArgumentsTest, FlagWithSamePrefixIsDifferent) {
  const auto configured =
      From({"--config", file_, "--vmodule=x", "--leader-elect-lease-duration=9s"});
  ASSERT_TRUE(configured.ok());
  EXPECT_EQ(Texts(*configured).size(), 6U);
}

TEST_F(ConfiguredArgumentsTest, ErrorsContainTheFileName) {
  const auto missing = From({"--config", folder_ / "none"});
  EXPECT_THAT(missing.status().message(), HasSubstr("--config: cannot read " + folder_.string()));
  says_ = Status::BadRequest("kind is missing");
  const auto wrong = From({"--config", file_});
  EXPECT_EQ(wrong.status().message(), "--config: " + file_.string() + ": kind is missing");
}

}  // namespace
}  // namespace cox::cmd
