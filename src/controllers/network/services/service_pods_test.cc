// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/services/service_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;
using testing::Contains;

Pod MakePod() {
  Pod pod;
  pod.metadata = {.name = "web-0", .namespace_ = "ns", .labels = {{"app", "web"}, {"tier", "a"}}};
  return pod;
}

Delta Update(const Pod& before, const Pod& after) {
  return {.type = Delta::Type::kUpdated,
          .before = std::make_shared<const Object>(Object::Of(before)),
          .after = std::make_shared<const Object>(Object::Of(after))};
}

TEST(ServicePods, SelectorMatchesIfAllPairsMatch) {
  const Pod pod = MakePod();
  EXPECT_TRUE(Selects({{"app", "web"}}, pod.metadata.labels));
  EXPECT_TRUE(Selects({{"app", "web"}, {"tier", "a"}}, pod.metadata.labels));
  EXPECT_FALSE(Selects({{"app", "web"}, {"tier", "b"}}, pod.metadata.labels));
  EXPECT_FALSE(Selects({{"other", "web"}}, pod.metadata.labels));
  EXPECT_FALSE(Selects({}, pod.metadata.labels));
}

TEST(ServicePods, SelectorKeyIsAmongLabelKeysOfPod) {
  Service service;
  service.metadata.namespace_ = "ns";
  EXPECT_EQ(ServicePods::BySelector::Of(service), "");
  service.spec.selector = {{"app", "web"}, {"tier", "a"}};
  EXPECT_THAT(ServicePods::ByLabel::Of(MakePod()), Contains(ServicePods::BySelector::Of(service)));
  service.metadata.namespace_ = "other";
  EXPECT_THAT(ServicePods::ByLabel::Of(MakePod()),
              testing::Not(Contains(ServicePods::BySelector::Of(service))));
}

TEST(ServicePods, PredicatePassesOnlyPublishedChanges) {
  const Predicate changed = PublishedPartChanged();
  const Pod pod = MakePod();
  EXPECT_FALSE(changed(Update(pod, pod)));
  Pod other = pod;
  other.metadata.annotations["note"] = "x";
  other.status.message = "busy";
  EXPECT_FALSE(changed(Update(pod, other)));
  other = pod;
  other.status.podIPs = {{.ip = "10.0.0.1"}};
  EXPECT_TRUE(changed(Update(pod, other)));
  other = pod;
  other.status.conditions = {{.type = "Ready", .status = "True"}};
  EXPECT_TRUE(changed(Update(pod, other)));
  other = pod;
  other.metadata.labels.erase("tier");
  EXPECT_TRUE(changed(Update(pod, other)));
  other = pod;
  other.metadata.deletionTimestamp = Time::FromUnix(1);
  EXPECT_TRUE(changed(Update(pod, other)));
}

}  // namespace
}  // namespace cox::controllers
