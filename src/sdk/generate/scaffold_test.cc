// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/scaffold.h"

#include <gtest/gtest.h>

#include <map>

#include "object/codec/yaml/yaml.h"

namespace cox::sdk {
namespace {

std::map<std::string, std::string> Files(const ScaffoldOptions& options) {
  auto files = ScaffoldOperator(options);
  EXPECT_TRUE(files.ok()) << files.status().ToString();
  return files.ok() ? std::map<std::string, std::string>(files->begin(), files->end())
                    : std::map<std::string, std::string>();
}

TEST(ScaffoldTest, AllPlaceholdersAreReplaced) {
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

TEST(ScaffoldTest, FilesAndResourcesAreNamedByTheKind) {
  const auto files = Files({.name = "my-operator", .group = "example.com", .kind = "BackupPlan"});
  EXPECT_TRUE(files.contains("src/backup_plan.h"));
  EXPECT_NE(files.at("deploy/rbac.yaml").find("[backupplans, backupplans/status]"),
            std::string::npos);
  EXPECT_NE(files.at("src/backup_plan.cc").find(".group = \"example.com\""), std::string::npos);
}

TEST(ScaffoldTest, LibraryNameDiffersFromTheProgramAndIsAnIdentifier) {
  const struct {
    std::string name, ns;
  } kRows[] = {
      {"backup", "backup_operator"},     {"class", "class_operator"},
      {"not-eq", "not_eq_operator"},     {"web-backup", "web_backup"},
      {"co-await", "co_await_operator"},
  };
  for (const auto& row : kRows) {
    for (const ScaffoldOptions& options :
         {ScaffoldOptions{.name = row.name},
          ScaffoldOptions{.name = row.name, .group = "example.com", .kind = "Backup"}}) {
      const auto files = Files(options);
      const std::string& cmake = files.at("CMakeLists.txt");
      EXPECT_NE(cmake.find("add_library(" + row.ns + " STATIC"), std::string::npos) << cmake;
      EXPECT_NE(cmake.find("add_executable(" + row.name + " src/main.cc)"), std::string::npos)
          << cmake;
      EXPECT_NE(files.at("src/reconciler.h").find("namespace " + row.ns + " {"), std::string::npos);
      EXPECT_NE(files.at("src/main.cc").find(row.ns + "::SetUp"), std::string::npos);
    }
  }
}

TEST(ScaffoldTest, OnlyACustomKindHasADefinition) {
  const std::string with =
      Files({.name = "my-operator", .group = "example.com", .kind = "Backup"}).at("CMakeLists.txt");
  EXPECT_NE(with.find("STATIC src/backup.cc src/reconciler.cc)"), std::string::npos);
  EXPECT_NE(with.find("coxswain_crds(my_operator_crds "), std::string::npos);
  const std::string without = Files({.name = "my-operator"}).at("CMakeLists.txt");
  EXPECT_NE(without.find("STATIC src/reconciler.cc)"), std::string::npos);
  EXPECT_EQ(without.find("coxswain_crds"), std::string::npos);
  EXPECT_NE(without.find("my_operator Coxswain::testkit)"), std::string::npos);
}

TEST(ScaffoldTest, RejectsInvalidNames) {
  for (const ScaffoldOptions& options : {
           ScaffoldOptions{.name = ""},
           ScaffoldOptions{.name = "Upper"},
           ScaffoldOptions{.name = "../out"},
           ScaffoldOptions{.name = "2fast"},
           ScaffoldOptions{.name = "test"},
           ScaffoldOptions{.name = std::string(64, 'a')},
           ScaffoldOptions{.name = "ok", .group = "example.com", .kind = "lower"},
           ScaffoldOptions{.name = "ok", .group = "example.com", .kind = "A;rm"},
           ScaffoldOptions{.name = "ok", .group = "example.com", .kind = "Reconciler"},
           ScaffoldOptions{.name = "ok", .group = "", .kind = "Backup"},
           ScaffoldOptions{.name = "ok", .group = "nodots", .kind = "Backup"},
           ScaffoldOptions{.name = "ok", .group = "a.b", .kind = "Backup", .version = "1"},
           ScaffoldOptions{.name = "ok", .group = "a..b", .kind = "Backup"},
           ScaffoldOptions{.name = "ok", .group = "a.b.", .kind = "Backup"},
       }) {
    EXPECT_FALSE(ScaffoldOperator(options).ok()) << options.name << " " << options.kind;
  }
}

}  // namespace
}  // namespace cox::sdk
