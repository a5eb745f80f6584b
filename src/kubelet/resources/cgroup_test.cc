// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using ::testing::ElementsAre;
using testing::MakePod;

TEST(CgroupTest, Paths) {
  const struct {
    std::string qos;
    std::string root;
    CgroupDriver driver;
    std::string want;
  } kCases[] = {
      {"Guaranteed", "/", CgroupDriver::kCgroupfs, "/kubepods/poda-b"},
      {"Burstable", "/", CgroupDriver::kCgroupfs, "/kubepods/burstable/poda-b"},
      {"BestEffort", "/x", CgroupDriver::kCgroupfs, "/x/kubepods/besteffort/poda-b"},
      {"Guaranteed", "/", CgroupDriver::kSystemd, "/kubepods.slice/kubepods-poda_b.slice"},
      {"BestEffort", "/", CgroupDriver::kSystemd,
       "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poda_b.slice"},
      {"Guaranteed", "/x", CgroupDriver::kSystemd,
       "/x.slice/x-kubepods.slice/x-kubepods-poda_b.slice"},
  };
  for (const auto& c : kCases) {
    auto pod = MakePod("{}", R"({"qosClass":")" + c.qos + R"("})");
    pod.metadata.uid = "a-b";
    EXPECT_EQ(PodCgroupPath(pod, c.root, c.driver), c.want);
  }
  EXPECT_EQ(QosCgroupPath("", "/", CgroupDriver::kCgroupfs), "/kubepods");
}

TEST(CgroupTest, Shares) {
  const std::pair<int64_t, uint64_t> kCases[] = {
      {-1, 2}, {0, 2}, {1, 2}, {100, 102}, {1000, 1024}, {256'000, 262'144}, {INT64_MAX, 262'144}};
  for (const auto& [milli, want] : kCases) EXPECT_EQ(MilliCpuToShares(milli), want) << milli;
}

TEST(CgroupTest, WeightsMatchContainerRuntimes) {
  const std::pair<uint64_t, uint64_t> kCases[] = {
      {0, 1}, {2, 1}, {102, 17}, {1024, 100}, {262'144, 10'000}, {999'999, 10'000}};
  for (const auto& [shares, want] : kCases) EXPECT_EQ(SharesToWeight(shares), want) << shares;
}

TEST(CgroupTest, Quota) {
  const std::pair<int64_t, int64_t> kCases[] = {
      {0, 0}, {1, 1000}, {10, 1000}, {500, 50'000}, {2500, 250'000}};
  for (const auto& [milli, want] : kCases) EXPECT_EQ(MilliCpuToQuota(milli), want) << milli;
}

TEST(CgroupTest, PodIsLimitedOnlyIfAllContainersHaveLimits) {
  const auto all =
      MakePod(R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Mi"}}},
      {"name":"b","resources":{"limits":{"cpu":"500m","memory":"1Mi"}}}]})");
  EXPECT_EQ(PodNumbers(all, true), (CgroupNumbers{1536, 150'000, kCpuPeriod, 2 << 20}));
  EXPECT_EQ(PodNumbers(all, false), (CgroupNumbers{.cpu_shares = 1536, .memory_limit = 2 << 20}));
  const auto one = MakePod(
      R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Mi"}}},{"name":"b"}]})");
  EXPECT_EQ(PodNumbers(one, true), (CgroupNumbers{.cpu_shares = 1024}));
  EXPECT_EQ(PodNumbers(MakePod(R"({"containers":[{"name":"a"}]})"), true),
            (CgroupNumbers{.cpu_shares = 2}));
  EXPECT_EQ(BurstableNumbers({&all, &one, &one}).cpu_shares, 2048U);
}

TEST(CgroupTest, Files) {
  const CgroupNumbers numbers{1024, 50'000, 100'000, 4096};
  EXPECT_THAT(CgroupFiles(numbers, "/kubepods/p", 2),
              ElementsAre(CgroupFile{"/sys/fs/cgroup/kubepods/p/cpu.weight", "100"},
                          CgroupFile{"/sys/fs/cgroup/kubepods/p/cpu.max", "50000 100000"},
                          CgroupFile{"/sys/fs/cgroup/kubepods/p/memory.max", "4096"}));
  EXPECT_THAT(CgroupFiles(numbers, "/p", 1, "/m"),
              ElementsAre(CgroupFile{"/m/cpu/p/cpu.shares", "1024"},
                          CgroupFile{"/m/cpu/p/cpu.cfs_period_us", "100000"},
                          CgroupFile{"/m/cpu/p/cpu.cfs_quota_us", "50000"},
                          CgroupFile{"/m/memory/p/memory.limit_in_bytes", "4096"}));
  CgroupNumbers processes;
  processes.pids_limit = 100;
  EXPECT_THAT(CgroupFiles(processes, "/p", 2),
              ElementsAre(CgroupFile{"/sys/fs/cgroup/p/pids.max", "100"}));
  EXPECT_THAT(CgroupFiles(processes, "/p", 1, "/m"),
              ElementsAre(CgroupFile{"/m/pids/p/pids.max", "100"}));
}

}  // namespace
}  // namespace cox::kubelet
