// SPDX-License-Identifier: Apache-2.0
// The API's published examples: the same bytes as upstream for every kind.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "tests/paths/paths.h"

namespace cox::yaml {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Golden, EveryKindRoundTripsLikeUpstream) {
  fs::path folder = fs::path(test::SharedDirectory()) / "data" / "api-golden";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no " << folder << ": set COX_SHARED";
  int kinds = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++kinds;
    std::string text = ReadFile(entry.path());
    Result<Value> from_json =
        json::Parse(ReadFile(fs::path(entry.path()).replace_extension(".json")));
    ASSERT_TRUE(from_json.ok()) << from_json.status().ToString();
    json::Strictness strict;
    Result<Value> from_yaml = yaml::Parse(text, &strict);
    ASSERT_TRUE(from_yaml.ok()) << from_yaml.status().ToString();
    EXPECT_TRUE(strict.errors.empty());
    EXPECT_EQ(*from_yaml, *from_json);
    EXPECT_EQ(Write(*from_json), text);
  }
  EXPECT_EQ(kinds, 185);
}

}  // namespace
}  // namespace cox::yaml
