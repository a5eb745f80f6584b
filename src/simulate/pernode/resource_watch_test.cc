// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/resource_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "simulate/testing/node_harness.h"

namespace cox::simulate {
namespace {

using core::v1::Service;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

class Recorder final : public WatchHandler {
 public:
  void OnListBegin() override { seen += "begin "; }
  void OnEvent(const WatchedEvent&, const ObjectView& view) override {
    seen += std::string(view.name) + " ";
  }
  void OnListEnd() override { seen += "end "; }
  std::string seen;
};

class ResourceWatchTest : public NodeHarness {
 protected:
  ResourceWatchTest()
      : connection_(shard, NewClient()),
        watch_(std::make_shared<ResourceWatch>(connection_, WatchKind::kServices,
                                               "/api/v1/services", "", &recorder_)) {}

  static std::string Added(const std::string& name, const std::string& version) {
    Service service;
    service.metadata.name = name;
    service.metadata.resourceVersion = version;
    return Event("ADDED", service);
  }
  // Answers the first request with a list at `version`.
  std::shared_ptr<FakeExchange> List(const std::string& version) {
    const auto request = Open("GET /api/v1/services");
    EXPECT_NE(request, nullptr);
    EXPECT_THAT(request->request.target, HasSubstr("&sendInitialEvents=true"));
    request->observer->OnHeaders(200, {});
    request->observer->OnData(Added("old", "90") + Bookmark<Service>(version, true));
    return request;
  }

  Recorder recorder_;
  NodeConnection connection_;
  const std::shared_ptr<ResourceWatch> watch_;
};

TEST_F(ResourceWatchTest, ResumesFromLastVersionAfterServerEndsIt) {
  watch_->Start();
  const auto first = List("5");
  EXPECT_EQ(recorder_.seen, "begin old end ");
  EXPECT_EQ(Metric("coxswain_simulate_watches{resource=\"services\"}"), 1);
  first->observer->OnData(Added("new", "8"));
  first->observer->OnData(Bookmark<Service>("9", false));
  clock.Advance(seconds(300));
  first->observer->OnEnd({});
  EXPECT_EQ(Metric("coxswain_simulate_watches{resource=\"services\"}"), 0);
  clock.Advance(milliseconds(0));
  const auto second = Open("GET /api/v1/services");
  ASSERT_NE(second, nullptr);
  EXPECT_THAT(second->request.target, HasSubstr("&resourceVersion=9"));
  EXPECT_THAT(second->request.target, Not(HasSubstr("sendInitialEvents")));
  EXPECT_EQ(recorder_.seen, "begin old end new ");
  EXPECT_EQ(Metric("coxswain_simulate_watch_restarts_total{resource=\"services\"}"), 1);
}

TEST_F(ResourceWatchTest, ResumesWithBackoffAfterConnectionLoss) {
  watch_->Start();
  List("5")->observer->OnEnd(Status::Unavailable("reset"));
  for (const milliseconds wait : {milliseconds(800), milliseconds(1600), milliseconds(3200)}) {
    clock.Advance(wait - milliseconds(1));
    EXPECT_EQ(Open("GET"), nullptr);
    clock.Advance(milliseconds(1));
    const auto again = Open("GET");
    ASSERT_NE(again, nullptr);
    EXPECT_THAT(again->request.target, HasSubstr("&resourceVersion=5"));
    again->Break();
  }
  EXPECT_EQ(Metric("coxswain_simulate_watch_failures_total{resource=\"services\"}"), 4);
}

TEST_F(ResourceWatchTest, ListsAgainWhenVersionIsTooOld) {
  meta::v1::Status gone;
  gone.code = 410;
  watch_->Start();
  List("5")->observer->OnData(Event("ERROR", gone));
  EXPECT_EQ(Open("GET"), nullptr);
  clock.Advance(milliseconds(800));
  List("12");
  EXPECT_EQ(recorder_.seen, "begin old end begin old end ");
  EXPECT_EQ(Metric("coxswain_simulate_watch_expired_total{resource=\"services\"}"), 1);
  EXPECT_EQ(Metric("coxswain_simulate_watch_relists_total{resource=\"services\"}"), 1);

  // The same as a response.
  clock.Advance(seconds(100));
  Open("GET")->observer->OnEnd({});
  clock.Advance(milliseconds(0));
  Open("GET")->Answer(410);
  clock.Advance(seconds(2));
  List("20");
}

TEST_F(ResourceWatchTest, IncompleteListIsRepeated) {
  watch_->Start();
  const auto first = Open("GET");
  first->observer->OnHeaders(200, {});
  first->observer->OnData(Added("a", "50"));
  first->observer->OnEnd({});
  clock.Advance(seconds(1));
  List("60");
  EXPECT_EQ(recorder_.seen, "begin a begin old end ");
}

TEST_F(ResourceWatchTest, WatchThatEndsAtOnceWaits) {
  watch_->Start();
  List("5")->observer->OnEnd({});
  clock.Advance(milliseconds(799));
  EXPECT_EQ(Open("GET"), nullptr);
  clock.Advance(milliseconds(1));
  EXPECT_NE(Open("GET"), nullptr);
}

}  // namespace
}  // namespace cox::simulate
