// SPDX-License-Identifier: Apache-2.0
#include "base/usable_cpus.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace cox {
namespace {

class CpuQuotaTest : public ::testing::Test {
 protected:
  CpuQuotaTest() {
    std::string pattern = ::testing::TempDir() + "cpu_quota_XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(root_ / "a/b");
    std::filesystem::create_directories(root_ / "a/unlimited");
    Write("a/cpu.max", "250000 100000\n");
    Write("a/b/cpu.max", "50000 100000\n");
    Write("a/unlimited/cpu.max", "max 100000\n");
  }
  ~CpuQuotaTest() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(root_ / path) << text;
  }
  std::optional<double> Quota(std::string_view group) { return CpuQuota(root_.string(), group); }

  std::filesystem::path root_;
};

TEST_F(CpuQuotaTest, IsSmallestQuotaOfGroupAndItsAncestors) {
  EXPECT_EQ(Quota("/a"), 2.5);
  EXPECT_EQ(Quota("/a/b"), 0.5);
  EXPECT_EQ(Quota("/a/unlimited"), 2.5);
  EXPECT_EQ(Quota("/a/b/missing/"), 0.5);
  EXPECT_EQ(Quota("/"), std::nullopt) << "the root group has no file";
  EXPECT_EQ(Quota(""), std::nullopt);
  Write("cpu.max", "150000 100000\n");
  EXPECT_EQ(Quota("/a"), 1.5) << "the root of a container has one";
}

TEST_F(CpuQuotaTest, IgnoresMalformedFiles) {
  for (const char* text : {"", "x", "1", "0 100000", "-1 100000", "100000 0"}) {
    Write("a/b/cpu.max", text);
    EXPECT_EQ(Quota("/a/b"), 2.5) << text;
  }
}

TEST(UsableCpus, FollowsTheAffinityMask) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int here = sched_getcpu();
    ASSERT_GE(here, 0);
    CPU_SET(here, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(UsableCpus(), 1);
  }).join();
  EXPECT_GE(UsableCpus(), 1);
}

}  // namespace
}  // namespace cox
