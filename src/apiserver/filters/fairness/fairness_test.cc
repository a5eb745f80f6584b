// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/fairness.h"

#include <algorithm>
#include <deque>

#include "api/core/v1.h"
#include "apiserver/filters/fairness/fairness_feed.h"
#include "apiserver/filters/fairness/flow_control.h"
#include "apiserver/filters/fairness/inflight_limit.h"
#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FairnessTest : public ::testing::Test {
 protected:
  FairnessTest() {
    List<flowcontrol::v1::FlowSchema> schemas = BootstrapFlowSchemas();
    for (auto& schema : schemas) schema.metadata.uid = "schema-" + schema.metadata.name;
    levels_ = BootstrapPriorityLevels();
    for (auto& level : levels_) level.metadata.uid = "level-" + level.metadata.name;
    schemas_ = std::move(schemas);
    fairness_.Configure(schemas_, levels_);
  }
  ~FairnessTest() override {
    // Calls refer to tickets, which refer to their level.
    for (FakeCall& call : calls_) call->TakeHeld();
  }

  FakeCall& Make(std::string user, FakeRequest request, std::vector<std::string> groups = {}) {
    FakeCall& call = calls_.emplace_back(clock_, std::move(request));
    call->user.name = std::move(user);
    call->user.groups = std::move(groups);
    call->user.groups.emplace_back(kAuthenticatedGroup);
    call->set_ctx(call->ctx().WithTimeout(seconds(60)));
    return call;
  }
  // Sends a request of the user; returns whether it continued immediately.
  std::pair<FakeCall*, bool> Enter(std::string user, std::string target = "/api/v1/namespaces/a") {
    FakeCall& call = Make(std::move(user), {.target = std::move(target)});
    return {&call, fairness_.Enter(call.shared())};
  }
  // Occupies all seats of global-default, with many users.
  std::vector<FakeCall*> Fill() {
    std::vector<FakeCall*> inside;
    for (int i = 0; i < 49; ++i) {
      auto [call, entered] = Enter("user" + std::to_string(i));
      EXPECT_TRUE(entered);
      inside.push_back(call);
    }
    return inside;
  }
  flowcontrol::v1::PriorityLevelConfiguration& Level(std::string_view name) {
    for (auto& level : levels_) {
      if (level.metadata.name == name) return level;
    }
    return levels_.front();
  }
  std::string Metric(std::string_view line) const {
    const std::string text = metrics_.Render();
    const size_t at = text.find(std::string(line) + " ");
    if (at == text.npos) return "none";
    const size_t value = at + line.size() + 1;
    return text.substr(value, text.find('\n', value) - value);
  }

  TestClock clock_;
  MetricsRegistry metrics_;
  std::vector<std::shared_ptr<Call>> resumed_;
  WorkFacts facts_;
  PriorityAndFairness fairness_{{.clock = clock_,
                                 .metrics = metrics_,
                                 .options = {},
                                 .resume = [this](auto call) { resumed_.push_back(call); },
                                 .facts = [this](const RequestInfo&) { return facts_; },
                                 .seed = 11}};
  List<flowcontrol::v1::FlowSchema> schemas_;
  List<flowcontrol::v1::PriorityLevelConfiguration> levels_;
  std::deque<FakeCall> calls_;
};

TEST_F(FairnessTest, ResponsesContainSchemaAndLevelUids) {
  auto [call, entered] = Enter("alice");
  ASSERT_TRUE(entered);
  (*call)->RespondText(200, "ok");
  EXPECT_EQ(call->exchange().Header("x-kubernetes-pf-flowschema-uid"), "schema-global-default");
  EXPECT_EQ(call->exchange().Header("x-kubernetes-pf-prioritylevel-uid"), "level-global-default");
  FakeCall& openapi = Make("root", {.target = "/openapi/v2"}, {std::string(kMastersGroup)});
  ASSERT_TRUE(fairness_.Enter(openapi.shared()));
  openapi->RespondWith({.status = 200, .headers = {}, .body = {}});
  EXPECT_EQ(openapi.exchange().Header("x-kubernetes-pf-flowschema-uid"), "schema-exempt");
}

TEST_F(FairnessTest, WaitingCallIsResumedWhenSeatIsReleased) {
  std::vector<FakeCall*> inside = Fill();
  auto [call, entered] = Enter("late");
  EXPECT_FALSE(entered);
  EXPECT_FALSE(call->exchange().answered());
  EXPECT_EQ(Metric("apiserver_flowcontrol_current_inqueue_requests{flow_schema=\"global-default\","
                   "priority_level=\"global-default\"}"),
            "1");
  (*inside[0])->RespondText(200, "done");
  ASSERT_EQ(resumed_.size(), 1u);
  EXPECT_EQ(resumed_[0], call->shared());
  resumed_[0]->RespondText(200, "done too");
  EXPECT_EQ(call->exchange().Header("x-kubernetes-pf-flowschema-uid"), "schema-global-default");
  EXPECT_EQ(Metric("apiserver_flowcontrol_dispatched_requests_total{flow_schema=\"global-default\","
                   "priority_level=\"global-default\"}"),
            "50");
  EXPECT_EQ(Metric("apiserver_flowcontrol_current_executing_requests{flow_schema="
                   "\"global-default\",priority_level=\"global-default\"}"),
            "48");
}

TEST_F(FairnessTest, DestroyedCallReleasesSeats) {
  Fill();
  auto [call, entered] = Enter("late");
  EXPECT_FALSE(entered);
  calls_.pop_front();  // an executing call without a response
  EXPECT_EQ(resumed_.size(), 1u);
}

TEST_F(FairnessTest, CallThatWaitsTooLongIsRejected) {
  Fill();
  auto [call, entered] = Enter("late");
  EXPECT_FALSE(entered);
  clock_.Advance(seconds(14));
  EXPECT_FALSE(call->exchange().answered());
  clock_.Advance(seconds(1));
  EXPECT_EQ(call->exchange().status(), 429);
  EXPECT_EQ(call->exchange().Body(), "Too many requests, please try again later.\n");
  EXPECT_EQ(call->exchange().Header("retry-after"), "1");
  EXPECT_EQ(call->exchange().Header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(call->exchange().Header("x-kubernetes-pf-flowschema-uid"), "schema-global-default");
  EXPECT_EQ(Metric("apiserver_flowcontrol_rejected_requests_total{flow_schema=\"global-default\","
                   "priority_level=\"global-default\",reason=\"time-out\"}"),
            "1");
  EXPECT_TRUE(resumed_.empty());
}

TEST_F(FairnessTest, DisconnectedClientLeavesQueue) {
  std::vector<FakeCall*> inside = Fill();
  auto [gone, entered] = Enter("gone");
  EXPECT_FALSE(entered);
  auto [next, next_entered] = Enter("next");
  EXPECT_FALSE(next_entered);
  gone->exchange().context().Stop();
  EXPECT_EQ(gone->exchange().status(), 429) << "nobody reads it";
  EXPECT_EQ(Metric("apiserver_flowcontrol_rejected_requests_total{flow_schema=\"global-default\","
                   "priority_level=\"global-default\",reason=\"cancelled\"}"),
            "1");
  (*inside[0])->RespondText(200, "done");
  ASSERT_EQ(resumed_.size(), 1u);
  EXPECT_EQ(resumed_[0], next->shared());
}

TEST_F(FairnessTest, FlowWithFullQueuesIsRejectedWithoutAffectingOthers) {
  std::vector<FakeCall*> inside = Fill();
  int waiting = 0;
  FakeCall* refused = nullptr;
  for (int i = 0; i < 400 && refused == nullptr; ++i) {
    auto [call, entered] = Enter("storm");
    EXPECT_FALSE(entered);
    if (call->exchange().answered()) {
      refused = call;
    } else {
      ++waiting;
    }
  }
  EXPECT_EQ(waiting, 6 * 50) << "a hand of queues";
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->exchange().status(), 429);
  EXPECT_EQ(Metric("apiserver_flowcontrol_rejected_requests_total{flow_schema=\"global-default\","
                   "priority_level=\"global-default\",reason=\"queue-full\"}"),
            "1");
  auto [other, entered] = Enter("other");
  EXPECT_FALSE(entered);
  EXPECT_FALSE(other->exchange().answered());
  // Dispatched before the three hundred waiting requests of the other flow.
  for (int i = 0; i < 7; ++i) (*inside[static_cast<size_t>(i)])->RespondText(200, "done");
  EXPECT_NE(std::find(resumed_.begin(), resumed_.end(), other->shared()), resumed_.end());
}

TEST_F(FairnessTest, LevelsAreIndependent) {
  Fill();
  FakeCall& root = Make("root", {.target = "/api/v1/pods"}, {std::string(kMastersGroup)});
  EXPECT_TRUE(fairness_.Enter(root.shared()));
  FakeCall& lease = Make(
      "system:kube-scheduler",
      {.method = "PUT", .target = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x"});
  EXPECT_TRUE(fairness_.Enter(lease.shared()));
}

TEST_F(FairnessTest, CatchAllRejectsImmediately) {
  int inside = 0;
  for (; inside < 100; ++inside) {
    FakeCall& call = Make("stranger", {.target = "/api/v1/pods"});
    call->user.groups.clear();
    if (!fairness_.Enter(call.shared())) {
      EXPECT_EQ(call.exchange().status(), 429);
      break;
    }
  }
  EXPECT_EQ(inside, 13);
}

TEST_F(FairnessTest, ListsTakeSeatsBySize) {
  facts_ = {.known = true, .objects = 5000, .object_bytes = 1000};
  // A request may use 15 % of the 49 seats: 8 each.
  int inside = 0;
  while (Enter("user" + std::to_string(inside), "/api/v1/pods").second) ++inside;
  EXPECT_EQ(inside, 6);
}

TEST_F(FairnessTest, LargeResponseHoldsSeatsUntilRead) {
  std::vector<FakeCall*> inside = Fill();
  auto [call, entered] = Enter("late");
  EXPECT_FALSE(entered);
  std::vector<Bytes> body = {Bytes(std::string(100'000, 'x')), Bytes::Static("]}\n")};
  (*inside[0])->Respond(200, "application/json", std::move(body));
  EXPECT_TRUE(resumed_.empty());
  net::Response sent = inside[0]->exchange().response();
  EXPECT_EQ(sent.body.back().view(), "]}\n");
  sent.body.clear();
  EXPECT_TRUE(resumed_.empty());
  // The exchange holds the other copy of the pieces.
  calls_.pop_front();
  EXPECT_EQ(resumed_.size(), 1u);
}

TEST_F(FairnessTest, WatchHoldsSeatOnlyUntilStarted) {
  auto [call, entered] = Enter("alice", "/api/v1/pods?watch=1");
  ASSERT_TRUE(entered);
  const std::string gauge =
      "apiserver_flowcontrol_current_executing_requests{flow_schema=\"global-default\","
      "priority_level=\"global-default\"}";
  EXPECT_EQ(Metric(gauge), "1");
  std::shared_ptr<void> held = (*call)->TakeHeld();
  held.reset();
  EXPECT_EQ(Metric(gauge), "0");
}

TEST_F(FairnessTest, WritesHoldSeatsForWatchers) {
  std::vector<FakeCall*> watches;
  for (int i = 0; i < 200; ++i) {
    watches.push_back(Enter("w" + std::to_string(i), "/api/v1/pods?watch=1").first);
    (*watches.back())->TakeHeld();
  }
  // The work of 20 seats, done by the 8 that a request may have: 5 ms times 20 / 8.
  std::vector<FakeCall*> writes;
  for (int i = 0; i < 6; ++i) {
    FakeCall& call =
        Make("u" + std::to_string(i), {.method = "POST", .target = "/api/v1/namespaces/a/pods"});
    EXPECT_TRUE(fairness_.Enter(call.shared()));
    writes.push_back(&call);
  }
  FakeCall& late = Make("late", {.method = "POST", .target = "/api/v1/namespaces/a/pods"});
  EXPECT_FALSE(fairness_.Enter(late.shared()));
  (*writes[0])->RespondText(201, "created");
  EXPECT_TRUE(resumed_.empty());
  // The end of another write releases no seat immediately either, but the hold of the first one has
  // expired.
  clock_.Advance(milliseconds(13));
  (*writes[1])->RespondText(201, "created");
  EXPECT_EQ(resumed_.size(), 1u);
}

TEST_F(FairnessTest, SeatsMoveToLevelsWithDemand) {
  const std::string gauge =
      "apiserver_flowcontrol_current_limit_seats{priority_level=\"global-default\"}";
  EXPECT_EQ(Metric(gauge), "49");
  Fill();
  std::vector<FakeCall*> waiting;
  for (int i = 0; i < 200; ++i) waiting.push_back(Enter("more" + std::to_string(i)).first);
  EXPECT_TRUE(resumed_.empty());
  clock_.Advance(seconds(10));
  fairness_.Adjust();
  // The other levels keep the seats that they do not lend.
  EXPECT_EQ(resumed_.size(), 200u);
  EXPECT_EQ(Metric("apiserver_flowcontrol_demand_seats_high_watermark{priority_level="
                   "\"global-default\"}"),
            "249");
  EXPECT_EQ(Metric("apiserver_flowcontrol_nominal_limit_seats{priority_level=\"global-default\"}"),
            "49");
  EXPECT_GE(std::stoi(Metric("apiserver_flowcontrol_current_limit_seats{priority_level="
                             "\"leader-election\"}")),
            25);
}

TEST_F(FairnessTest, BorrowingIsLimited) {
  Level("global-default").spec.limited->borrowingLimitPercent = 0;
  fairness_.Configure(schemas_, levels_);
  Fill();
  for (int i = 0; i < 50; ++i) Enter("more" + std::to_string(i));
  clock_.Advance(seconds(10));
  fairness_.Adjust();
  EXPECT_TRUE(resumed_.empty());
}

TEST_F(FairnessTest, ConfigurationChangesTakeEffectImmediately) {
  Fill();
  EXPECT_FALSE(Enter("late").second);
  Level("global-default").spec.limited->nominalConcurrencyShares = 100;
  fairness_.Configure(schemas_, levels_);
  EXPECT_EQ(resumed_.size(), 1u);
  // A removed level: executing requests stay, its schema is dangling, and another schema matches.
  erase_if(levels_, [](const auto& level) { return level.metadata.name == "global-default"; });
  fairness_.Configure(schemas_, levels_);
  auto [call, entered] = Enter("alice");
  ASSERT_TRUE(entered);
  (*call)->RespondText(200, "ok");
  EXPECT_EQ(call->exchange().Header("x-kubernetes-pf-flowschema-uid"), "schema-catch-all");
  EXPECT_NE(fairness_.DumpLevels().find("global-default"), std::string::npos);
  for (FakeCall& each : calls_) {
    if (!each.exchange().answered()) each->RespondText(200, "done");
  }
  fairness_.Adjust();
  EXPECT_EQ(fairness_.DumpLevels().find("global-default"), std::string::npos);
}

TEST_F(FairnessTest, MandatoryObjectsExistByDefault) {
  fairness_.Configure({}, {});
  EXPECT_TRUE(Enter("alice").second);
  const std::string dump = fairness_.DumpLevels();
  EXPECT_NE(dump.find("catch-all,"), std::string::npos);
  EXPECT_NE(dump.find("exempt,"), std::string::npos);
}

TEST_F(FairnessTest, DumpsMatchUpstreamFormat) {
  Fill();
  Enter("late", "/api/v1/namespaces/a/pods/x");
  EXPECT_TRUE(fairness_.DumpLevels().starts_with(
      "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, "
      "DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests\n"
      "catch-all,         0,            true,   false,       0,               0,                 "
      "0,                  0,                0,                0\n"))
      << fairness_.DumpLevels();
  EXPECT_TRUE(fairness_.DumpQueues().starts_with(
      "PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, "))
      << fairness_.DumpQueues();
  const std::string requests = fairness_.DumpRequests(/*with_details=*/true);
  const size_t at = requests.find("late,");
  ASSERT_NE(at, std::string::npos) << requests;
  const std::string line = requests.substr(at, requests.find('\n', at) - at);
  EXPECT_NE(line.find("2030-01-02T03:04:05Z,"), std::string::npos) << line;
  EXPECT_NE(line.find("0001-01-01T00:00:00Z,"), std::string::npos) << line;
  EXPECT_NE(line.find("/api/v1/namespaces/a/pods/x,"), std::string::npos) << line;
  FakeCall& call = Make("root", {.target = "/debug/api_priority_and_fairness/dump_requests"});
  EXPECT_TRUE(fairness_.HandleDebug(*call));
  EXPECT_EQ(call.exchange().Header("content-type"), "text/plain; charset=utf-8");
}

TEST_F(FairnessTest, ContainerStreamsAreNotCounted) {
  FakeCall& call = Make("alice", {.target = "/api/v1/namespaces/a/pods/x/exec?command=sh"});
  EXPECT_TRUE(fairness_.Enter(call.shared()));
  call->RespondText(200, "ok");
  EXPECT_EQ(call.exchange().Header("x-kubernetes-pf-flowschema-uid"), "");
}

TEST(FairnessFeed, FollowsObjectsInCache) {
  ApiHarness api;
  MetricsRegistry metrics;
  PriorityAndFairness fairness(
      {.clock = api.clock(), .metrics = metrics, .options = {}, .resume = [](auto) {}});
  const InternalController feed = FairnessFeed(api.registry(), fairness);
  EXPECT_EQ(api.Do({.method = "POST",
                    .target = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
                    .body = R"({"metadata":{"name":"batch"},"spec":{"type":"Limited","limited":{
                      "nominalConcurrencyShares":5,"limitResponse":{"type":"Reject"}}}})"})
                .exchange()
                .status(),
            201);
  api.Sync(flowcontrol::v1::PriorityLevelConfiguration::kKind);
  api.Sync(flowcontrol::v1::FlowSchema::kKind);
  ASSERT_TRUE(feed.reconcile(api.ctx()).ok());
  EXPECT_NE(fairness.DumpLevels().find("batch,"), std::string::npos);
}

TEST(FairnessFeed, WorkFactsContainObjectCountAndSize) {
  ApiHarness api;
  for (int i = 0; i < 10; ++i) {
    api.Do({.method = "POST",
            .target = "/api/v1/namespaces/default/configmaps",
            .body = R"({"metadata":{"name":"c)" + std::to_string(i) + R"("},"data":{"k":")" +
                    std::string(1000, 'x') + R"("}})"});
  }
  api.Sync(core::v1::ConfigMap::kKind);
  const auto facts = [&](std::string_view target) {
    return ReadWorkFacts(api.registry(), *ParseRequestInfo("GET", target, Query()));
  };
  const WorkFacts all = facts("/api/v1/configmaps");
  EXPECT_TRUE(all.known);
  EXPECT_EQ(all.objects, 10);
  EXPECT_GT(all.object_bytes, 1000);
  EXPECT_LT(all.object_bytes, 2000);
  EXPECT_EQ(facts("/api/v1/namespaces/default/configmaps").objects, 10);
  EXPECT_EQ(facts("/api/v1/namespaces/other/configmaps").objects, 0);
  EXPECT_FALSE(facts("/api/v1/nothings").known);
}

TEST(InFlightLimit, LimitsReadsAndWritesSeparately) {
  TestClock clock;
  InFlightLimit limit(
      {.enabled = false, .max_requests_inflight = 2, .max_mutating_requests_inflight = 1}, clock);
  std::deque<FakeCall> calls;
  const auto enter = [&](std::string method, std::string target, const std::string& group = "") {
    FakeCall& call = calls.emplace_back(
        clock, FakeRequest{.method = std::move(method), .target = std::move(target)});
    if (!group.empty()) call->user.groups.push_back(group);
    return limit.Enter(call.shared());
  };
  EXPECT_TRUE(enter("GET", "/api/v1/pods"));
  EXPECT_TRUE(enter("GET", "/api/v1/pods"));
  EXPECT_FALSE(enter("GET", "/api/v1/pods"));
  EXPECT_EQ(calls.back().exchange().status(), 429);
  EXPECT_EQ(calls.back().exchange().Header("retry-after"), "1");
  EXPECT_EQ(calls.back().exchange().Body(), "Too many requests, please try again later.\n");
  EXPECT_TRUE(enter("GET", "/api/v1/pods?watch=1")) << "watches last";
  EXPECT_TRUE(enter("GET", "/api/v1/pods", std::string(kMastersGroup)));
  EXPECT_TRUE(enter("POST", "/api/v1/namespaces/a/pods"));
  EXPECT_FALSE(enter("POST", "/api/v1/namespaces/a/pods"));
  calls[0]->RespondText(200, "ok");
  EXPECT_FALSE(enter("GET", "/api/v1/pods")) << "the administrator's counts";
  calls[1]->RespondText(200, "ok");
  EXPECT_TRUE(enter("GET", "/api/v1/pods"));
}

}  // namespace
}  // namespace cox::apiserver
