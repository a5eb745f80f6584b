// SPDX-License-Identifier: Apache-2.0
#include "sdk/events/event_text.h"

#include <gtest/gtest.h>

#include "object/validation/names.h"

namespace cox::sdk {
namespace {

TEST(EventTextTest, TextIsCutBetweenCharacters) {
  EXPECT_EQ(CutText("short", 5), "short");
  EXPECT_EQ(CutText("longer", 5), "lo...");
  EXPECT_EQ(CutText("a\u00e4bcdef", 6), "a\u00e4...");
  EXPECT_EQ(CutText("a\u00e4bcdef", 5), "a...") << "no half of it";
  EXPECT_EQ(CutText(std::string(2000, 'x'), kMaxNote).size(), kMaxNote);
}

TEST(EventTextTest, NamesAreValidEventNames) {
  const struct {
    std::string object, name;
  } kCases[] = {
      {"web", "web.17b2c3d4e5f60718"},
      {"system:node", "clusterrole.17b2c3d4e5f60718"},
      {"", "clusterrole.17b2c3d4e5f60718"},
      {std::string(253, 'a'), std::string(236, 'a') + ".17b2c3d4e5f60718"},
      {std::string(235, 'a') + "-b" + std::string(16, 'a'),
       std::string(235, 'a') + ".17b2c3d4e5f60718"},
  };
  for (const auto& c : kCases) {
    const std::string name = EventName(c.object, "ClusterRole", 0x17b2c3d4e5f60718);
    EXPECT_EQ(name, c.name);
    EXPECT_TRUE(validation::IsDNS1123Subdomain(name).empty()) << name;
  }
}

}  // namespace
}  // namespace cox::sdk
