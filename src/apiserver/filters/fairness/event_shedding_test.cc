// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/event_shedding.h"

#include <deque>

#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

using std::chrono::milliseconds;

class WriteLagTest : public ::testing::Test {
 protected:
  void Write(int count, Clock::Duration took, bool succeeded = true) {
    for (int i = 0; i < count; ++i) {
      lag_.Begin();
      lag_.End(took, succeeded);
    }
  }
  // Ends the current interval.
  void NextInterval() { clock_.Advance(WriteLag::kInterval); }

  TestClock clock_;
  WriteLag lag_{clock_};
};

TEST_F(WriteLagTest, MostWritesAreSlow) {
  Write(6, milliseconds(501));
  Write(5, milliseconds(20));
  EXPECT_FALSE(lag_.IsBehind());  // the interval has not ended
  NextInterval();
  EXPECT_TRUE(lag_.IsBehind());
  Write(5, milliseconds(501));
  Write(6, milliseconds(20));
  NextInterval();
  EXPECT_FALSE(lag_.IsBehind());
}

TEST_F(WriteLagTest, RejectedRequestsDoNotCount) {
  Write(10, milliseconds(501));
  Write(100, milliseconds(1), /*succeeded=*/false);
  NextInterval();
  EXPECT_TRUE(lag_.IsBehind());
}

TEST_F(WriteLagTest, FewSlowWritesAreNoOverload) {
  Write(9, milliseconds(9000));
  NextInterval();
  EXPECT_FALSE(lag_.IsBehind());
}

TEST_F(WriteLagTest, StateEndsWithoutWrites) {
  Write(10, milliseconds(501));
  NextInterval();
  EXPECT_TRUE(lag_.IsBehind());
  NextInterval();
  EXPECT_FALSE(lag_.IsBehind());
  Write(10, milliseconds(501));
  clock_.Advance(3 * WriteLag::kInterval);
  EXPECT_FALSE(lag_.IsBehind());
}

TEST_F(WriteLagTest, StoreThatDoesNotRespondIsOverload) {
  for (size_t i = 0; i < WriteLag::kLeast; ++i) lag_.Begin();
  clock_.Advance(WriteLag::kStalled);
  EXPECT_FALSE(lag_.IsBehind());
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(lag_.IsBehind());
  Write(100, milliseconds(1), /*succeeded=*/false);
  EXPECT_TRUE(lag_.IsBehind());
  lag_.End(WriteLag::kStalled, true);
  EXPECT_FALSE(lag_.IsBehind());
}

class EventSheddingTest : public WriteLagTest {
 protected:
  class PassAll final : public RequestGate {
   public:
    bool Enter(const std::shared_ptr<Call>&) override { return true; }
  };
  FakeExchange& Send(std::string method, std::string target) {
    FakeCall& call = calls_.emplace_back(
        clock_, FakeRequest{.method = std::move(method), .target = std::move(target)});
    call->user.groups = {std::string(kMastersGroup)};
    passed_ = shedding_.Enter(call.shared());
    return call.exchange();
  }

  MetricsRegistry metrics_;
  PassAll inner_;
  EventShedding shedding_{inner_, lag_, clock_, metrics_};
  std::deque<FakeCall> calls_;
  bool passed_ = false;
};

TEST_F(EventSheddingTest, OnlyWritesOfEventsAreShed) {
  const std::string core = "/api/v1/namespaces/a/events";
  const std::string group = "/apis/events.k8s.io/v1/namespaces/a/events";
  Send("POST", core);
  EXPECT_TRUE(passed_);
  Write(10, milliseconds(501));
  NextInterval();
  for (const std::string& events : {core, group}) {
    for (const auto& [method, target] :
         {std::pair("POST", events), std::pair("PATCH", events + "/e"),
          std::pair("PUT", events + "/e")}) {
      const FakeExchange& answer = Send(method, target);
      EXPECT_FALSE(passed_) << method << target;
      EXPECT_EQ(answer.status(), 429);
      EXPECT_EQ(answer.Header("retry-after"), "1");
    }
  }
  EXPECT_NE(metrics_.Render().find("coxswain_apiserver_shed_events_total 6"), std::string::npos);
  for (const auto& [method, target] :
       {std::pair<std::string, std::string>("GET", core),
        {"DELETE", core + "/e"},
        {"PATCH", "/api/v1/namespaces/a/pods/p/status"},
        {"PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n"},
        {"POST", "/apis/example.com/v1/namespaces/a/events"}}) {
    Send(method, target);
    EXPECT_TRUE(passed_) << method << target;
  }
}

}  // namespace
}  // namespace cox::apiserver
