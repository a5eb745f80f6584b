// SPDX-License-Identifier: Apache-2.0
#include "kubelet/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::kubelet {
namespace {

using ::testing::HasSubstr;

TEST(OptionsTest, DefaultsRequireOnlyNodeName) {
  EXPECT_TRUE(Validate({.node_name = "n1"}).ok());
  EXPECT_THAT(Validate({}).message(), HasSubstr("hostname-override"));
}

TEST(OptionsTest, ErrorsNameInvalidOption) {
  const struct {
    Options options;
    std::string says;
  } kCases[] = {
      {{.node_name = "n", .root_dir = "var"}, "root-dir"},
      {{.node_name = "n", .cgroup_root = ""}, "cgroupRoot"},
      {{.node_name = "n", .cgroup_driver = "none"}, "cgroupDriver"},
      {{.node_name = "n", .max_pods = -1}, "maxPods"},
      {{.node_name = "n", .max_container_restart_period = std::chrono::seconds(301)},
       "maxContainerRestartPeriod"},
  };
  for (const auto& c : kCases) EXPECT_THAT(Validate(c.options).message(), HasSubstr(c.says));
}

}  // namespace
}  // namespace cox::kubelet
