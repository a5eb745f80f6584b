// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/slice_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "controllers/testing/test_services.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;
using discovery::v1::EndpointSlice;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A Service with Pods, and its slices as the API server stores them.
class SlicesModel {
 public:
  SlicesModel() {
    service_.metadata.uid = "service";
    service_.spec.ipFamilies = {"IPv4", "IPv6"};
  }

  void Put(int number, bool ready, int32_t port = 8080) {
    Pod pod = WebPod(number);
    pod.spec.containers[0].ports[0].containerPort = port;
    pod.status.podIPs.push_back({.ip = "fd00::" + std::to_string(number)});
    pod.status.conditions[0].status = ready ? "True" : "False";
    changed_.insert(pod.metadata.name);
    pods_[number] = std::make_shared<const Pod>(std::move(pod));
  }
  void Remove(int number) {
    changed_.insert("web-" + std::to_string(number));
    pods_.erase(number);
  }

  // Plans and stores the changes. Returns the plan; nullopt if all slices were planned.
  std::optional<ChangePlan> Sync() {
    std::vector<std::shared_ptr<const Pod>> some;
    std::vector<std::shared_ptr<const Pod>> all;
    for (const auto& [number, pod] : pods_) {
      all.push_back(pod);
      if (changed_.contains(pod->metadata.name)) some.push_back(pod);
    }
    std::optional<ChangePlan> planned = PlanChanges(service_, index_, changed_, Group(some));
    changed_.clear();
    if (planned.has_value()) {
      Store(planned->plan);
    } else {
      std::vector<SlicePtr> existing;
      for (const auto& [name, slice] : index_.slices()) existing.push_back(slice);
      const SlicePlan plan = PlanSlices(service_, existing, Group(all));
      for (const SlicePtr& slice : plan.remove) std::erase(existing, slice);
      index_ = SliceIndex(existing);
      Store(plan);
    }
    return planned;
  }

  // Checks that the slices contain exactly the endpoints of the Pods.
  void Check() {
    std::map<std::string, std::string> wanted;
    std::vector<std::shared_ptr<const Pod>> all;
    for (const auto& [number, pod] : pods_) all.push_back(pod);
    for (const auto& [key, group] : Group(all)) {
      for (const auto& endpoint : group.endpoints) wanted[TextOf(endpoint)] = key.second;
    }
    std::map<std::string, std::string> found;
    for (const auto& [name, slice] : index_.slices()) {
      EXPECT_LE(slice->endpoints.size(), kMaxEndpointsPerSlice);
      for (const auto& endpoint : slice->endpoints) {
        EXPECT_TRUE(found.emplace(TextOf(endpoint), PortsKey(slice->ports)).second);
      }
    }
    EXPECT_EQ(found, wanted);
  }

  SliceIndex& index() { return index_; }

 private:
  EndpointGroups Group(const std::vector<std::shared_ptr<const Pod>>& pods) {
    return GroupEndpoints(service_, pods, [](const std::string&) { return std::string("a"); });
  }
  static std::string TextOf(const discovery::v1::Endpoint& endpoint) {
    return endpoint.addresses.at(0) + (*endpoint.conditions.ready ? " ready" : " not ready");
  }
  void Store(const SlicePlan& plan) {
    for (EndpointSlice slice : plan.create) {
      slice.metadata.name = "slice-" + std::to_string(++last_);
      index_.Put(std::make_shared<const EndpointSlice>(std::move(slice)));
    }
    for (const EndpointSlice& slice : plan.update) {
      index_.Put(std::make_shared<const EndpointSlice>(slice));
    }
  }

  Service service_ = WebService();
  std::map<int, std::shared_ptr<const Pod>> pods_;
  std::set<std::string> changed_;
  SliceIndex index_{{}};
  int last_ = 0;
};

TEST(SliceChanges, ChangedPodConcernsOnlyItsSlices) {
  for (const int size : {300, 3000}) {
    SlicesModel model;
    for (int i = 0; i < size; ++i) model.Put(i, false);
    EXPECT_FALSE(model.Sync().has_value());
    model.Put(5, true);
    const auto plan = model.Sync();
    ASSERT_TRUE(plan.has_value());
    EXPECT_THAT(plan->existing, SizeIs(2));  // one for each family
    EXPECT_THAT(plan->plan.update, SizeIs(2));
    EXPECT_THAT(plan->plan.create, IsEmpty());
    model.Check();
  }
}

TEST(SliceChanges, NewEndpointsFillTheSliceWithTheLeastRoomThatIsEnough) {
  SlicesModel model;
  for (int i = 0; i < 250; ++i) model.Put(i, true);  // slices of 100, 100 and 50
  (void)model.Sync();
  model.Put(1000, true);
  auto plan = model.Sync();
  ASSERT_TRUE(plan.has_value());
  EXPECT_THAT(plan->plan.update, SizeIs(2));
  EXPECT_THAT(plan->plan.create, IsEmpty());
  for (int i = 2000; i < 2060; ++i) model.Put(i, true);
  plan = model.Sync();
  ASSERT_TRUE(plan.has_value());
  EXPECT_THAT(plan->plan.update, IsEmpty());
  EXPECT_THAT(plan->plan.create, SizeIs(2));
  model.Check();
}

TEST(SliceChanges, EmptySlicesAndNewPortsNeedACompletePlan) {
  SlicesModel model;
  for (int i = 0; i < 101; ++i) model.Put(i, true);
  (void)model.Sync();
  model.Put(200, true, 9090);
  EXPECT_FALSE(model.Sync().has_value());
  model.Check();
  model.Remove(200);
  EXPECT_FALSE(model.Sync().has_value());
  model.Check();
}

TEST(SliceChanges, RandomChangesGiveTheEndpointsOfAllPods) {
  for (unsigned seed = 1; seed <= 5 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SlicesModel model;
    int partial = 0;
    for (int step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
      for (size_t i = random() % (step == 0 ? 400 : 40); i > 0; --i) {
        const auto number = static_cast<int>(random() % 400);
        if (random() % 3 == 0) {
          model.Remove(number);
        } else {
          model.Put(number, random() % 2 == 0, random() % 10 == 0 ? 9090 : 8080);
        }
      }
      partial += model.Sync().has_value() ? 1 : 0;
      model.Check();
    }
    EXPECT_GT(partial, 10);
  }
}

TEST(SliceChanges, IndexComparesSlicesByVersion) {
  SlicesModel model;
  for (int i = 0; i < 150; ++i) model.Put(i, true);
  (void)model.Sync();
  std::vector<SlicePtr> slices;
  for (const auto& [name, slice] : model.index().slices()) slices.push_back(slice);
  EXPECT_TRUE(model.index().HasSameVersions(slices));
  SlicePtr& last = slices.back();
  last = std::make_shared<const EndpointSlice>(*last);  // a cache may decode it again
  EXPECT_TRUE(model.index().HasSameVersions(slices));
  EndpointSlice changed = *last;
  changed.metadata.resourceVersion += "0";
  last = std::make_shared<const EndpointSlice>(changed);
  EXPECT_FALSE(model.index().HasSameVersions(slices));
  slices.pop_back();
  EXPECT_FALSE(model.index().HasSameVersions(slices));
}

TEST(ChangedPods, ReturnsEachChangeOnce) {
  ChangedPods changed;
  const ObjectKey service{"ns", "web"};
  changed.Add(service, "b");
  changed.Add(service, "a");
  changed.Add({"ns", "other"}, "c");
  EXPECT_THAT(changed.Take(service).pods, ElementsAre("a", "b"));
  EXPECT_THAT(changed.Take(service).pods, IsEmpty());
  changed.AddAll(service);
  changed.Add(service, "a");
  EXPECT_TRUE(changed.Take(service).all);
  EXPECT_FALSE(changed.Take(service).all);
}

}  // namespace
}  // namespace cox::controllers
