// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/testing/test_clock.h"
#include "scheduler/plugins/registry.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

using core::v1::Pod;
using testing::ElementsAre;
using testing::IsEmpty;

class UnsupportedRequirementsTest : public testing::Test {
 protected:
  PluginStatus PreFilter(const Pod& pod) {
    CycleState state;
    return dynamic_cast<const PreFilterPlugin&>(*plugin_)
        .PreFilter(state, *Info(pod), nodes_.Take())
        .status;
  }
  std::string SignatureOf(const Pod& pod) {
    Signature signature;
    EXPECT_TRUE(plugin_->Sign(*Info(pod), signature));
    return signature.Take();
  }

  const std::unique_ptr<Plugin> plugin_ = FindPlugin("UnsupportedRequirements")->make({});
  TestClock clock_;
  TestSnapshot nodes_{clock_};
};

core::v1::Affinity& AffinityOf(Pod& pod) { return pod.spec.affinity.emplace(); }
core::v1::VolumeSource& AddVolume(Pod& pod) { return pod.spec.volumes.emplace_back().volumeSource; }
void AddConstraint(Pod& pod, std::string when_unsatisfiable) {
  pod.spec.topologySpreadConstraints.emplace_back().whenUnsatisfiable =
      std::move(when_unsatisfiable);
}

TEST_F(UnsupportedRequirementsTest, HardRequirementsAreRejectedByName) {
  const std::pair<const char*, std::function<void(Pod&)>> kCases[] = {
      {"required Pod affinity is not implemented",
       [](Pod& pod) {
         AffinityOf(pod)
             .podAffinity.emplace()
             .requiredDuringSchedulingIgnoredDuringExecution.emplace_back();
       }},
      {"required Pod anti-affinity is not implemented",
       [](Pod& pod) {
         AffinityOf(pod)
             .podAntiAffinity.emplace()
             .requiredDuringSchedulingIgnoredDuringExecution.emplace_back();
       }},
      {"topology spread constraints with whenUnsatisfiable DoNotSchedule are not implemented",
       [](Pod& pod) {
         AddConstraint(pod, "ScheduleAnyway");
         AddConstraint(pod, "DoNotSchedule");
       }},
      {"persistentVolumeClaim volumes are not implemented",
       [](Pod& pod) {
         AddVolume(pod).emptyDir.emplace();
         AddVolume(pod).persistentVolumeClaim.emplace();
       }},
      {"ephemeral volumes are not implemented",
       [](Pod& pod) { AddVolume(pod).ephemeral.emplace(); }},
      {"resource claims are not implemented",
       [](Pod& pod) { pod.spec.resourceClaims.emplace_back().name = "gpu"; }},
  };
  for (const auto& [reason, require] : kCases) {
    Pod pod = TestPod("p");
    require(pod);
    const PluginStatus status = PreFilter(pod);
    EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable) << reason;
    EXPECT_EQ(status.plugin(), "UnsupportedRequirements") << reason;
    EXPECT_THAT(status.reasons(), ElementsAre(reason));
    EXPECT_NE(SignatureOf(pod), SignatureOf(TestPod("p")))
        << "the result of another Pod would be reused: " << reason;
  }
}

TEST_F(UnsupportedRequirementsTest, AllReasonsAreReported) {
  Pod pod = TestPod("p");
  AddVolume(pod).persistentVolumeClaim.emplace();
  pod.spec.resourceClaims.emplace_back().name = "gpu";
  EXPECT_EQ(PreFilter(pod).Message(),
            "persistentVolumeClaim volumes are not implemented, resource claims are not "
            "implemented");
}

TEST_F(UnsupportedRequirementsTest, PreferencesAndSupportedRequirementsAreAccepted) {
  const std::pair<const char*, std::function<void(Pod&)>> kCases[] = {
      {"none", [](Pod&) {}},
      {"empty affinity", [](Pod& pod) { AffinityOf(pod).podAffinity.emplace(); }},
      {"preferred Pod affinity",
       [](Pod& pod) {
         AffinityOf(pod)
             .podAffinity.emplace()
             .preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
       }},
      {"preferred Pod anti-affinity",
       [](Pod& pod) {
         AffinityOf(pod)
             .podAntiAffinity.emplace()
             .preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
       }},
      {"required node affinity",
       [](Pod& pod) {
         AffinityOf(pod)
             .nodeAffinity.emplace()
             .requiredDuringSchedulingIgnoredDuringExecution.emplace();
       }},
      {"ScheduleAnyway", [](Pod& pod) { AddConstraint(pod, "ScheduleAnyway"); }},
      {"emptyDir", [](Pod& pod) { AddVolume(pod).emptyDir.emplace(); }},
  };
  for (const auto& [what, prefer] : kCases) {
    Pod pod = TestPod("p");
    prefer(pod);
    EXPECT_TRUE(PreFilter(pod).skip()) << what;
    EXPECT_EQ(SignatureOf(pod), SignatureOf(TestPod("p"))) << what;
  }
}

TEST_F(UnsupportedRequirementsTest, NoEventRequeuesTheRejectedPod) {
  EXPECT_THAT(plugin_->Events(), IsEmpty());
}

}  // namespace
}  // namespace cox::scheduler
