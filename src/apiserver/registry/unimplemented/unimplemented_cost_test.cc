// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "apiserver/registry/unimplemented/unimplemented.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/testing/cost_meter.h"

namespace cox::apiserver {
namespace {

core::v1::Pod OrdinaryPod() {
  core::v1::Pod pod;
  for (int i = 0; i < 3; ++i) {
    auto& container = pod.spec.containers.emplace_back();
    container.name = "container-" + std::to_string(i);
    container.image = "registry.example.com/team/service:v1";
    container.resources.limits["cpu"] = *Quantity::Parse("500m");
    container.resources.limits["memory"] = *Quantity::Parse("256Mi");
    for (int n = 0; n < 8; ++n) {
      container.env.emplace_back().name = "VARIABLE_" + std::to_string(n);
      container.env.back().value = "value";
    }
    container.volumeMounts.emplace_back().name = "volume-" + std::to_string(i);
    pod.spec.volumes.emplace_back().name = "volume-" + std::to_string(i);
    pod.spec.volumes.back().volumeSource.configMap.emplace();
  }
  return pod;
}

// The check of a Pod is part of its creation: it takes a fraction of the time to encode the Pod.
TEST(UnimplementedCostTest, CheckIsCheaperThanEncodingThePod) {
  constexpr int kRounds = 20'000;
  const Object object = Object::Of(OrdinaryPod());
  const UserInfo user{.name = "alice", .uid = {}, .groups = {}, .extra = {}};
  EXPECT_TRUE(UnimplementedWarnings(user, object, nullptr).empty());
  const Cost check = Measure([&] {
    for (int i = 0; i < kRounds; ++i) (void)UnimplementedWarnings(user, object, nullptr);
  });
  size_t bytes = 0;
  const Cost encoding = Measure([&] {
    for (int i = 0; i < kRounds; ++i) bytes += proto::Encode(*object.As<core::v1::Pod>()).size();
  });
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(check.seconds, encoding.seconds)
      << "of " << kRounds << " checks and encodings; the aim of one check is 5 us";
  EXPECT_EQ(check.bytes, 0) << "the check of a Pod without warnings allocates nothing";
}

}  // namespace
}  // namespace cox::apiserver
