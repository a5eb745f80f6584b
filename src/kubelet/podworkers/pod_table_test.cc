// SPDX-License-Identifier: Apache-2.0
#include "kubelet/podworkers/pod_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using core::v1::Pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kNow;

std::shared_ptr<const Pod> MakePod(const std::string& name, const std::string& uid) {
  Pod pod = testing::MakePod(R"({"containers":[{"name":"c"}]})");
  pod.metadata.name = name;
  pod.metadata.uid = uid;
  return std::make_shared<const Pod>(std::move(pod));
}

TEST(PodTableTest, PodOfSameNameReplacesOldOne) {
  const Options options;
  PodTable table(options);
  EXPECT_THAT(table.Put(MakePod("web", "u1")), ElementsAre("u1"));
  EXPECT_THAT(table.Put(MakePod("web", "u2")), ElementsAre("u2", "u1"));
  EXPECT_TRUE(table.Take("u1", nullptr, kNow)->order.gone);
  EXPECT_FALSE(table.Take("u2", nullptr, kNow)->order.gone);
  EXPECT_EQ(table.Find({"default", "web"}, "")->metadata.uid, "u2");
  EXPECT_EQ(table.Find({"default", "web"}, "u1"), nullptr);
  // Removing the old Pod does not affect the new one.
  table.SetDeleted(*MakePod("web", "u1"));
  table.Erase("u1");
  EXPECT_FALSE(table.Take("u1", nullptr, kNow));
  EXPECT_NE(table.Find({"default", "web"}, "u2"), nullptr);
}

TEST(PodTableTest, OrphansAreAddedOnlyAfterSync) {
  const Options options;
  PodTable table(options);
  table.Put(MakePod("web", "u1"));
  runtime::PodState known;
  known.uid = "u1";
  runtime::PodState unknown;
  unknown.uid = "u9";
  EXPECT_THAT(table.AddOrphans(std::vector{known, unknown}), IsEmpty());
  table.SetSynced();
  EXPECT_THAT(table.AddOrphans(std::vector{known, unknown}), ElementsAre("u9"));
  EXPECT_THAT(table.AddOrphans(std::vector{known, unknown}), IsEmpty());
  EXPECT_TRUE(table.Take("u9", nullptr, kNow)->order.gone);
  EXPECT_EQ(table.Pods().size(), 1U);
}

TEST(PodTableTest, AdmissionIsDecidedOnce) {
  Options options;
  options.max_pods = 1;
  PodTable table(options);
  table.Put(MakePod("a", "u1"));
  table.Put(MakePod("b", "u2"));
  EXPECT_FALSE(table.Take("u1", nullptr, kNow)->rejected_now);
  EXPECT_TRUE(table.Take("u2", nullptr, kNow)->rejected_now);
  const auto again = table.Take("u2", nullptr, kNow);
  EXPECT_FALSE(again->rejected_now);
  EXPECT_EQ(again->order.end->reason, "OutOfpods");
  // Pods that have started are admitted regardless of the limit.
  Pod begun = *MakePod("c", "u3");
  begun.status.startTime = Time::FromUnix(1);
  table.Put(std::make_shared<const Pod>(begun));
  EXPECT_FALSE(table.Take("u3", nullptr, kNow)->order.end);
}

}  // namespace
}  // namespace cox::kubelet
