// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pod_counter.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "controllers/shared/pods/pod_state.h"
#include "sdk/cache/resource_informer.h"

namespace cox::controllers::pods {
namespace {

using core::v1::Pod;

const Map<std::string> kWebLabels = {{"app", "web"}};

class PodCounterTest : public testing::Test {
 protected:
  PodCounterTest() {
    const sdk::ResourceInformer::FeedId feed = informer_->StartFeed("");
    EXPECT_TRUE(informer_->Replace(feed, {}, "1", true));
    selector_.matchLabels = kWebLabels;
  }

  // Creates or changes a Pod of the owner; an empty owner makes it an orphan.
  void Put(const std::string& name, const std::string& owner, bool ready,
           Map<std::string> labels = kWebLabels, const std::string& ns = "ns") {
    Pod pod;
    pod.metadata = {.name = name, .namespace_ = ns, .uid = "uid-" + ns + name};
    pod.metadata.labels = std::move(labels);
    pod.metadata.resourceVersion = std::to_string(++version_);
    if (!owner.empty()) {
      pod.metadata.ownerReferences = {
          {.kind = "ReplicaSet", .name = owner, .uid = owner, .controller = true}};
    }
    pod.status.conditions = {
        {.type = core::v1::kPodReady,
         .status = ready ? core::v1::kConditionTrue : core::v1::kConditionFalse,
         .lastTransitionTime = Time::FromUnix(5)}};
    Write(std::move(pod));
  }
  void Write(Pod pod) {
    informer_->ObserveWrite(std::make_shared<const Object>(Object::Of(std::move(pod))),
                            sdk::ResourceInformer::kUnknownBase, "me");
  }
  void Delete(const std::string& name) { informer_->ObserveDelete({"ns", name}, "uid-ns" + name); }

  static meta::v1::ObjectMeta Owner(const std::string& name) {
    return {.name = name, .namespace_ = "ns", .uid = name};
  }
  PodCounter::Counts CountsOf(const std::string& name) {
    const meta::v1::ObjectMeta metadata = Owner(name);
    const auto counts = counter_.CountsOf(
        {.metadata = metadata, .selector = &selector_, .labels = labels_}, Time::FromUnix(9));
    EXPECT_TRUE(counts.ok()) << counts.status().ToString();
    return counts.ok() ? *counts : PodCounter::Counts();
  }
  void ClaimsChecked(const std::string& name, const PodCounter::Counts& counts) {
    const meta::v1::ObjectMeta metadata = Owner(name);
    counter_.ClaimsChecked({.metadata = metadata, .selector = &selector_, .labels = labels_},
                           counts);
  }
  // Counts the Pods of the owner in the cache.
  void CompareWithCache(const std::string& name) {
    size_t active = 0;
    size_t ready = 0;
    size_t terminating = 0;
    for (const PodPtr& pod : index_.Find(ControlledBy("ns", name))) {
      terminating += IsTerminating(*pod) ? 1 : 0;
      active += IsActive(*pod) ? 1 : 0;
      ready += IsActive(*pod) && IsReady(*pod) ? 1 : 0;
    }
    const PodCounter::Counts counts = CountsOf(name);
    EXPECT_EQ(counts.active, active) << name;
    EXPECT_EQ(counts.ready, ready) << name;
    EXPECT_EQ(counts.terminating, terminating) << name;
  }

  TestClock clock_;
  const std::shared_ptr<sdk::ResourceInformer> informer_ =
      std::make_shared<sdk::ResourceInformer>(Resource::Of<Pod>(), false, CacheScope(), clock_,
                                              Clock::Duration(), std::make_shared<Notification>());
  int64_t version_ = 1;
  meta::v1::LabelSelector selector_;
  Map<std::string> labels_ = kWebLabels;
  const PodCounter::PodIndex index_{informer_};
  PodCounter counter_{index_};
};

TEST_F(PodCounterTest, ChangeVisitsOnlyTheChangedPod) {
  for (const int size : {100, 10'000}) {
    const std::string owner = "set-" + std::to_string(size);
    for (int i = 0; i < size; ++i) Put(owner + std::to_string(i), owner, false);
    EXPECT_EQ(CountsOf(owner).active, size);
    const size_t before = counter_.visited();
    for (int i = 0; i < 50; ++i) {
      Put(owner + std::to_string(i), owner, true);
      EXPECT_EQ(CountsOf(owner).ready, i + 1);
    }
    // The previous version and the new one.
    EXPECT_EQ(counter_.visited() - before, 100) << size;
  }
}

TEST_F(PodCounterTest, FollowsPodsThatChangeTheirOwner) {
  std::mt19937 random(7);
  const std::vector<std::string> owners = {"a", "b", "c", ""};
  for (int step = 0; step < 3000 && !HasFailure(); ++step) {
    const std::string name = "p" + std::to_string(random() % 30);
    if (random() % 4 == 0) {
      Delete(name);
      // A deleted uid never returns.
      const auto number = std::to_string(random() % 30);
      Put("q" + std::to_string(step) + "-" + number, owners[random() % 4], random() % 2 == 0);
    } else {
      Put(name, owners[random() % 4], random() % 2 == 0);
    }
    if (random() % 50 == 0) counter_.Forget({"ns", owners[random() % 3]});
    for (const char* owner : {"a", "b", "c"}) CompareWithCache(owner);
  }
}

TEST_F(PodCounterTest, PodsOfOtherNamespacesDoNotCount) {
  Put("p", "a", true);
  Put("p", "a", true, kWebLabels, "other");
  EXPECT_EQ(CountsOf("a").active, 1);
  Put("q", "a", true, kWebLabels, "other");
  EXPECT_EQ(CountsOf("a").active, 1);
  counter_.Forget({"ns", "a"});
  EXPECT_EQ(CountsOf("a").active, 1);
}

TEST_F(PodCounterTest, ForgetAndChangedLabelsCountAllPodsAgain) {
  for (int i = 0; i < 10; ++i) Put("p" + std::to_string(i), "a", true);
  EXPECT_EQ(CountsOf("a").labeled, 10);
  size_t before = counter_.visited();
  labels_ = {{"app", "web"}, {"tier", "front"}};
  EXPECT_EQ(CountsOf("a").labeled, 0);
  EXPECT_EQ(counter_.visited() - before, 10);
  before = counter_.visited();
  counter_.Forget({"ns", "a"});
  EXPECT_EQ(CountsOf("a").active, 10);
  EXPECT_EQ(counter_.visited() - before, 10);
  // A new owner with the same name.
  meta::v1::ObjectMeta recreated = Owner("a");
  recreated.uid = "other";
  const auto counts = counter_.CountsOf(
      {.metadata = recreated, .selector = &selector_, .labels = labels_}, Time::FromUnix(9));
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->active, 0);
}

TEST_F(PodCounterTest, ClaimsAreCheckedOnFirstUseAndAfterChangesThatConcernThem) {
  Put("p", "a", false);
  Put("orphan", "", false, {{"app", "other"}});
  PodCounter::Counts counts = CountsOf("a");
  EXPECT_TRUE(counts.check_claims);
  ClaimsChecked("a", counts);
  EXPECT_FALSE(CountsOf("a").check_claims);
  Put("p", "a", true);                          // only the status of a Pod
  Put("orphan", "", true, {{"app", "other"}});  // only the status of an orphan
  Put("other", "b", true);
  EXPECT_FALSE(CountsOf("a").check_claims);
  counts = CountsOf("a");
  Put("orphan", "", true);  // the labels of an orphan, before the check of an earlier state ends
  ClaimsChecked("a", counts);
  EXPECT_TRUE(CountsOf("a").check_claims);
  ClaimsChecked("a", CountsOf("a"));
  EXPECT_FALSE(CountsOf("a").check_claims);
  Put("other", "", true);  // a Pod that was released
  EXPECT_TRUE(CountsOf("a").check_claims);
  ClaimsChecked("a", CountsOf("a"));
  // A Pod to release stays one until it is released.
  Put("p", "a", true, {{"app", "debug"}});
  EXPECT_TRUE(CountsOf("a").check_claims);
  ClaimsChecked("a", CountsOf("a"));
  EXPECT_TRUE(CountsOf("a").check_claims);
}

TEST_F(PodCounterTest, CountsAgreeWithTheCacheWhileOtherThreadsWrite) {
  RealClock clock;
  Scope scope(Context(clock), "test");
  ASSERT_TRUE(scope
                  .Go("writer",
                      [this](Context&) {
                        for (int i = 0; i < 2000; ++i) {
                          Put("p" + std::to_string(i % 100), "a", i % 3 == 0);
                          if (i % 7 == 0) counter_.Forget({"ns", "a"});
                        }
                      })
                  .ok());
  for (int i = 0; i < 500; ++i) EXPECT_LE(CountsOf("a").active, 100);
  scope.Wait();
  scope.Stop();
  CompareWithCache("a");
}

}  // namespace
}  // namespace cox::controllers::pods
