// SPDX-License-Identifier: Apache-2.0
#include "controllers/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cox::controllers {
namespace {

size_t CountEnabled(const std::vector<std::string>& words) {
  size_t count = 0;
  for (const ControllerInfo& info : AllControllers()) count += IsEnabled(info, words) ? 1 : 0;
  return count;
}

TEST(RegistryTest, FlagEnablesAndDisablesControllers) {
  const size_t all = AllControllers().size();
  EXPECT_EQ(CountEnabled({"*"}), all);
  EXPECT_EQ(CountEnabled({"*", "-job-controller"}), all - 1);
  EXPECT_EQ(CountEnabled({"-job-controller", "*"}), all - 1);
  EXPECT_EQ(CountEnabled({"*", "-podgc", "-nodelifecycle"}), all - 2);  // names from before 1.28
  EXPECT_EQ(CountEnabled({"deployment-controller", "replicaset"}), 2U);
  EXPECT_EQ(CountEnabled({"*", "bootstrapsigner", "tokencleaner"}), all);
  EXPECT_EQ(CountEnabled({}), 0U);
}

TEST(RegistryTest, VolumeAttributesClassProtectionUsesItsOwnAccount) {
  const auto controllers = AllControllers();
  const auto found =
      std::find_if(controllers.begin(), controllers.end(), [](const ControllerInfo& info) {
        return info.name == "volumeattributesclass-protection-controller";
      });
  ASSERT_NE(found, controllers.end());
  EXPECT_EQ(found->account, "volumeattributesclass-protection-controller");
  EXPECT_TRUE(found->on_by_default);
}

TEST(RegistryTest, NamesMatchUpstreamAndAreUnique) {
  std::set<std::string_view> names;
  for (const ControllerInfo& info : AllControllers()) {
    EXPECT_TRUE(info.name.ends_with("-controller")) << info.name;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.account.empty()) << info.name;
  }
}

}  // namespace
}  // namespace cox::controllers
