// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/scaffold.h"

#include <gtest/gtest.h>

#include <map>

#include "object/yaml/yaml.h"

namespace cox::sdk {
namespace {

std::map<std::string, std::string> Files(const ScaffoldOptions& options) {
  auto files = ScaffoldOperator(options);
  EXPECT_TRUE(files.ok()) << files.status().ToString();
  return files.ok() ? std::map<std::string, std::string>(files->begin(), files->end())
                    : std::map<std::string, std::string>();
}

TEST(ScaffoldTest, NothingIsLeftToFillIn) {
  for (const ScaffoldOptions& options :
       {ScaffoldOptions{.name = "my-operator"},
        ScaffoldOptions{.name = "my-operator", .group = "example.com", .kind = "BackupPlan"}}) {
    for (const auto& [path, text] : Files(options)) {
      EXPECT_EQ(text.find('@'), std::string::npos) << path << "\n" << text;
      EXPECT_EQ(path.find('@'), std::string::npos) << path;
      if (path.ends_with(".yaml")) {
        EXPECT_TRUE(yaml::ParseAll(text).ok()) << path;
      }
    }
  }
}

TEST(ScaffoldTest, NamesFilesAndResourcesByTheKind) {
  const auto files = Files({.name = "my-operator", .group = "example.com", .kind = "BackupPlan"});
  EXPECT_TRUE(files.contains("src/backup_plan.h"));
  EXPECT_NE(files.at("deploy/rbac.yaml").find("[backupplans, backupplans/status]"),
            std::string::npos);
  EXPECT_NE(files.at("src/backup_plan.cc").find(".group = \"example.com\""), std::string::npos);
}

TEST(ScaffoldTest, RefusesNamesThatNobodyTakes) {
  for (const ScaffoldOptions& options : {
           ScaffoldOptions{.name = ""},
           ScaffoldOptions{.name = "Upper"},
           ScaffoldOptions{.name = "../out"},
           ScaffoldOptions{.name = "ok", .group = "example.com", .kind = "lower"},
           ScaffoldOptions{.name = "ok", .group = "example.com", .kind = "A;rm"},
           ScaffoldOptions{.name = "ok", .group = "", .kind = "Backup"},
           ScaffoldOptions{.name = "ok", .group = "nodots", .kind = "Backup"},
           ScaffoldOptions{.name = "ok", .group = "a.b", .kind = "Backup", .version = "1"},
       }) {
    EXPECT_FALSE(ScaffoldOperator(options).ok()) << options.name << " " << options.kind;
  }
}

}  // namespace
}  // namespace cox::sdk
