// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/overload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/testing/test_clock.h"

namespace cox::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ExamineNodeTest, DistinguishesDeadNodesFromOverload) {
  constexpr seconds kGrace{50};
  constexpr seconds kLong{60};  // the API server has been responsive for a while
  struct Case {
    const char* name;
    seconds silent;
    size_t on_time, late;
    seconds longest_gap;
    std::optional<Clock::Duration> responsive;
    NodeVerdict want;
  };
  const Case cases[] = {
      {"within the grace period", seconds(49), 100, 0, {}, kLong, NodeVerdict::kAlive},
      {"within the grace period of an unresponsive server",
       seconds(49),
       0,
       0,
       {},
       std::nullopt,
       NodeVerdict::kAlive},
      {"one node failed", seconds(50), 100, 0, {}, seconds(0), NodeVerdict::kMark},
      {"the server is not responsive", seconds(50), 100, 0, {}, std::nullopt, NodeVerdict::kWait},
      {"a silent day of an unresponsive server",
       seconds(86'400),
       0,
       0,
       {},
       std::nullopt,
       NodeVerdict::kWait},
      {"two of three zones failed", seconds(50), 800, 0, {}, seconds(0), NodeVerdict::kMark},
      {"all nodes failed", seconds(50), 0, 0, {}, seconds(10), NodeVerdict::kMark},
      {"the server has just recovered", seconds(50), 0, 0, {}, seconds(9), NodeVerdict::kWait},
      {"all renewals are late", seconds(51), 0, 700, seconds(50), kLong, NodeVerdict::kWait},
      {"a quarter of the renewals is late", seconds(60), 300, 100, seconds(30), kLong,
       NodeVerdict::kWait},
      {"few renewals are late", seconds(50), 301, 100, seconds(30), kLong, NodeVerdict::kMark},
      {"a small cluster has late nodes", seconds(50), 0, 2, seconds(40), kLong, NodeVerdict::kMark},
      {"the queue of renewals is long", seconds(700), 0, 700, seconds(180), kLong,
       NodeVerdict::kWait},
      {"all other nodes get through", seconds(720), 0, 700, seconds(180), kLong,
       NodeVerdict::kMark},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(ExamineNode({.silent = each.silent,
                           .grace = kGrace,
                           .on_time = each.on_time,
                           .late = each.late,
                           .longest_gap = each.longest_gap,
                           .responsive = each.responsive}),
              each.want)
        << each.name;
  }
}

// Nodes that renew their Leases every 10 s through a server that handles a limited number per
// second, in the order of arrival.
class RenewalModel {
 public:
  static constexpr seconds kGrace{50};
  explicit RenewalModel(size_t nodes) : heard_(nodes, clock_.Monotonic()) {
    for (size_t i = 0; i < nodes; ++i) due_.push_back({clock_.Monotonic() + Spread(i), i});
  }
  void Kill(size_t begin, size_t end) {
    std::erase_if(due_, [=](const auto& one) { return one.second >= begin && one.second < end; });
  }
  // Returns the nodes that are marked within that time.
  std::vector<size_t> Run(seconds length, double renewals_per_second, bool responsive = true) {
    std::vector<size_t> marked;
    double permits = 0;
    for (milliseconds at{0}; at < length; at += milliseconds(100)) {
      clock_.Advance(milliseconds(100));
      const Clock::SteadyTime now = clock_.Monotonic();
      for (permits += renewals_per_second / 10;
           permits >= 1 && !due_.empty() && due_.front().first <= now; permits -= 1) {
        const size_t node = due_.front().second;
        due_.pop_front();
        gaps_.Note(now, now - heard_[node]);
        heard_[node] = now;
        due_.push_back({now + seconds(10), node});
      }
      permits = std::min(permits, renewals_per_second);  // an idle server saves nothing up
      if (!responsive) {
        since_ = now;
      } else if (!was_responsive_) {  // all nodes get a new grace period
        for (Clock::SteadyTime& heard : heard_) heard = now;
      }
      was_responsive_ = responsive;
      const auto recent = gaps_.Read(now);
      for (size_t i = 0; i < heard_.size(); ++i) {
        const NodeVerdict verdict = ExamineNode({.silent = now - heard_[i],
                                                 .grace = kGrace,
                                                 .on_time = recent.on_time,
                                                 .late = recent.late,
                                                 .longest_gap = recent.longest,
                                                 .responsive = Responsive(responsive)});
        if (verdict != NodeVerdict::kMark || marked_at_.contains(i)) continue;
        marked_at_[i] = now;
        marked.push_back(i);
      }
    }
    return marked;
  }
  Clock::Duration SilenceWhenMarked(size_t node) { return marked_at_.at(node) - heard_[node]; }

 private:
  Clock::Duration Spread(size_t i) const {
    return Clock::Duration(seconds(10)) * static_cast<int64_t>(i) /
           static_cast<int64_t>(heard_.size());
  }
  std::optional<Clock::Duration> Responsive(bool responsive) const {
    if (!responsive) return std::nullopt;
    return clock_.Monotonic() - since_;
  }

  TestClock clock_;
  std::vector<Clock::SteadyTime> heard_;
  std::deque<std::pair<Clock::SteadyTime, size_t>> due_;
  std::map<size_t, Clock::SteadyTime> marked_at_;
  HeartbeatGaps gaps_{Clock::Duration(kGrace) / 2};
  Clock::SteadyTime since_ = clock_.Monotonic();
  bool was_responsive_ = true;
};

// The capacity falls to a fraction of the need, while the API server responds quickly to others.
TEST(RenewalModelTest, SlowRenewalsMarkNoNode) {
  for (const double capacity : {24.0, 12.0, 6.0, 1.8}) {  // 30 are needed
    RenewalModel model(300);
    EXPECT_TRUE(model.Run(seconds(60), 1000).empty());
    EXPECT_TRUE(model.Run(seconds(600), capacity).empty()) << capacity;
    EXPECT_TRUE(model.Run(seconds(300), 1000).empty()) << capacity;
  }
}

TEST(RenewalModelTest, DeadNodesAreMarkedAfterTheGracePeriod) {
  for (const size_t dead : {size_t{1}, size_t{100}, size_t{200}, size_t{300}}) {
    RenewalModel model(300);
    EXPECT_TRUE(model.Run(seconds(60), 1000).empty());
    model.Kill(0, dead);
    EXPECT_EQ(model.Run(seconds(55), 1000).size(), dead);
    for (size_t i = 0; i < dead; ++i) EXPECT_LE(model.SilenceWhenMarked(i), seconds(51));
  }
}

TEST(RenewalModelTest, NoNodeIsMarkedBeforeItCanRenewAfterAnOutageOfTheServer) {
  for (const seconds outage : {seconds(30), seconds(45), seconds(400)}) {
    RenewalModel model(300);
    EXPECT_TRUE(model.Run(seconds(60), 1000).empty());
    EXPECT_TRUE(model.Run(outage, 0, /*responsive=*/false).empty()) << outage.count();
    EXPECT_TRUE(model.Run(seconds(120), 60).empty()) << outage.count();
  }
}

TEST(RenewalModelTest, DeadNodeIsMarkedDuringLastingOverload) {
  RenewalModel model(300);
  EXPECT_TRUE(model.Run(seconds(60), 1000).empty());
  EXPECT_TRUE(model.Run(seconds(200), 10).empty());
  model.Kill(7, 8);
  EXPECT_EQ(model.Run(seconds(200), 10), std::vector<size_t>{7});
}

TEST(HeartbeatGapsTest, ForgetsOldHeartbeats) {
  TestClock clock;
  HeartbeatGaps gaps(seconds(25));
  gaps.Note(clock.Monotonic(), seconds(10));
  gaps.Note(clock.Monotonic(), seconds(26));
  EXPECT_EQ(gaps.Read(clock.Monotonic()).on_time, 1u);
  EXPECT_EQ(gaps.Read(clock.Monotonic()).late, 1u);
  EXPECT_EQ(gaps.Read(clock.Monotonic()).longest, seconds(26));
  clock.Advance(seconds(19));
  EXPECT_EQ(gaps.Read(clock.Monotonic()).late, 1u);
  clock.Advance(seconds(6));
  EXPECT_EQ(gaps.Read(clock.Monotonic()).on_time + gaps.Read(clock.Monotonic()).late, 0u);
}

class ControlPlaneProbeTest : public testing::Test {
 protected:
  TestClock clock_;
  Context ctx_{clock_};
  int writes_ = 0;
  int recoveries_ = 0;
  Status result_;
  Clock::Duration takes_{};
  ControlPlaneProbe probe_{[this](Context&) {
                             ++writes_;
                             clock_.Advance(takes_);
                             return result_;
                           },
                           [this] { ++recoveries_; }};
};

TEST_F(ControlPlaneProbeTest, WritesOncePerPeriod) {
  EXPECT_EQ(probe_.Check(ctx_), Clock::Duration());
  EXPECT_EQ(writes_, 1);
  clock_.Advance(seconds(4));
  EXPECT_EQ(probe_.Check(ctx_), seconds(4));
  EXPECT_EQ(writes_, 1);
  clock_.Advance(seconds(1));
  EXPECT_EQ(probe_.Check(ctx_), seconds(5));
  EXPECT_EQ(writes_, 2);
  EXPECT_EQ(recoveries_, 0);
}

TEST_F(ControlPlaneProbeTest, SlowOrFailedWriteIsAFailureUntilTheNextOne) {
  EXPECT_TRUE(probe_.Check(ctx_).has_value());
  clock_.Advance(seconds(5));
  takes_ = milliseconds(2'001);
  EXPECT_FALSE(probe_.Check(ctx_).has_value());
  takes_ = {};
  EXPECT_FALSE(probe_.Check(ctx_).has_value());  // not written again yet
  EXPECT_EQ(writes_, 2);
  result_ = Status::Unavailable("down");
  clock_.Advance(seconds(5));
  EXPECT_FALSE(probe_.Check(ctx_).has_value());
  EXPECT_EQ(recoveries_, 0);
  result_ = Status();
  clock_.Advance(seconds(5));
  EXPECT_EQ(probe_.Check(ctx_), Clock::Duration());
  EXPECT_EQ(recoveries_, 1);
}

TEST_F(ControlPlaneProbeTest, LongPauseBetweenWritesStartsAgain) {
  EXPECT_TRUE(probe_.Check(ctx_).has_value());
  clock_.Advance(seconds(15));
  EXPECT_EQ(probe_.Check(ctx_), seconds(15));
  clock_.Advance(seconds(16));
  EXPECT_EQ(probe_.Check(ctx_), Clock::Duration());
  // A failure before the pause is no outage that has just ended.
  result_ = Status::Unavailable("down");
  clock_.Advance(seconds(5));
  EXPECT_FALSE(probe_.Check(ctx_).has_value());
  result_ = Status();
  clock_.Advance(seconds(16));
  EXPECT_EQ(probe_.Check(ctx_), Clock::Duration());
  EXPECT_EQ(recoveries_, 0);
}

}  // namespace
}  // namespace cox::controllers
