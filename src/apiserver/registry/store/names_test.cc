// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/names.h"

#include <gtest/gtest.h>

#include <set>

namespace cox::apiserver {
namespace {

TEST(GenerateName, AppendsFiveCharactersThatCannotFormWords) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = GenerateName("web-");
    ASSERT_EQ(name.size(), 9u);
    EXPECT_TRUE(name.starts_with("web-"));
    EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 4), std::string::npos) << name;
  }
}

TEST(GenerateName, TruncatesLongPrefixes) {
  const std::string name = GenerateName(std::string(300, 'x'));
  EXPECT_EQ(name.size(), 63u);
  EXPECT_EQ(name.substr(0, 58), std::string(58, 'x'));
  EXPECT_EQ(GenerateName(std::string(58, 'y')).size(), 63u);
}

TEST(GenerateName, RarelyRepeatsNames) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(GenerateName(""));
  EXPECT_GT(names.size(), 990u);
}

TEST(NewUid, IsAVersion4Uuid) {
  std::set<std::string> uids;
  for (int i = 0; i < 100; ++i) {
    const std::string uid = NewUid();
    ASSERT_EQ(uid.size(), 36u);
    for (size_t at : {8u, 13u, 18u, 23u}) EXPECT_EQ(uid[at], '-');
    EXPECT_EQ(uid[14], '4');
    EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos);
    EXPECT_EQ(uid.find_first_not_of("0123456789abcdef-"), std::string::npos);
    uids.insert(uid);
  }
  EXPECT_EQ(uids.size(), 100u);
}

}  // namespace
}  // namespace cox::apiserver
