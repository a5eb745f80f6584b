// SPDX-License-Identifier: Apache-2.0
#include "sdk/events/event_sender.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "base/testing/test_clock.h"
#include "sdk/testing/function_client.h"

namespace cox::sdk {
namespace {

using events::v1::Event;
using std::chrono::minutes;
using std::chrono::seconds;

// Unlike elapsed time, this excludes the time in which other programs run.
double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class EventSenderTest : public ::testing::Test {
 protected:
  EventSenderTest() {
    client_.execute = [this](Context&, const Operation& operation) -> Result<Object> {
      if (operation.verb == Operation::Verb::kCreate) {
        created_.push_back(operation.body->As<Event>()->regarding.name);
      } else {
        patched_.push_back(operation.patch->body);
      }
      return Object::Of(Event());
    };
  }
  RecordedEvent About(int pod) const {
    return {.about = {.gvk = {"", "v1", "Pod"},
                      .key = {"ns", "pod-" + std::to_string(pod)},
                      .uid = "u" + std::to_string(pod),
                      .resource_version = "1"},
            .kind = EventKind::kNormal,
            .reason = "Pulled",
            .action = "Pulling",
            .note = "note",
            .time = clock_.Now()};
  }
  void Take(EventSender& sender, int pod) { sender.Take(ctx_, About(pod)); }
  void Take(int pod) { Take(sender_, pod); }
  // Forgets the recorded requests.
  void Clear() {
    created_.clear();
    patched_.clear();
  }
  // CPU time of one event of a running series and of the following scheduling.
  double CostWith(int active_series) {
    EventSender sender(client_, {.controller = "example.com/test", .instance = "here"}, {});
    for (int pod = 0; pod < active_series; ++pod) Take(sender, pod);
    for (int pod = 0; pod < active_series; ++pod) Take(sender, pod);
    constexpr int kEvents = 2000;
    const double start = ThreadCpuSeconds();
    for (int i = 0; i < kEvents; ++i) {
      Take(sender, i % active_series);
      sender.WriteDue(ctx_, false);
      EXPECT_NE(sender.NextDue(), Clock::kNever);
    }
    return (ThreadCpuSeconds() - start) / kEvents;
  }

  static constexpr int kMaxSeries = EventSender::kMaxSeries;
  TestClock clock_;
  Context ctx_{clock_};
  FunctionClient client_;
  std::vector<std::string> created_;  // names of the objects
  std::vector<std::string> patched_;
  EventSender sender_{client_, {.controller = "example.com/test", .instance = "here"}, {}};
};

TEST_F(EventSenderTest, NewSeriesEvictsTheOneThatOccurredLeastRecently) {
  for (int pod = 0; pod < kMaxSeries; ++pod) Take(pod);
  clock_.Advance(seconds(1));
  Take(0);
  Clear();
  Take(kMaxSeries);  // evicts the series of Pod 1
  EXPECT_EQ(created_, (std::vector<std::string>{"pod-" + std::to_string(kMaxSeries)}));
  Clear();
  clock_.Advance(seconds(30));
  Take(0);
  Take(2);
  EXPECT_TRUE(created_.empty());
  EXPECT_EQ(patched_.size(), 2U) << "both series continue";
  Take(1);
  EXPECT_EQ(created_, (std::vector<std::string>{"pod-1"}));
}

TEST_F(EventSenderTest, EvictionWritesTheCountOfTheSeries) {
  Take(0);
  Take(0);
  Take(0);  // not written yet
  clock_.Advance(seconds(1));
  for (int pod = 1; pod < kMaxSeries; ++pod) Take(pod);
  Clear();
  Take(kMaxSeries);
  ASSERT_EQ(patched_.size(), 1U);
  EXPECT_NE(patched_[0].find("\"count\":3"), std::string::npos) << patched_[0];
}

TEST_F(EventSenderTest, CountsAreWrittenInTheOrderInWhichTheyAreDue) {
  for (const int pod : {1, 2}) {
    for (int i = 0; i < 3; ++i) Take(pod);
    clock_.Advance(seconds(10));
  }
  Clear();
  EXPECT_EQ(sender_.NextDue() - clock_.Monotonic(), seconds(10));
  sender_.WriteDue(ctx_, false);
  EXPECT_TRUE(patched_.empty());
  clock_.Advance(seconds(10));
  sender_.WriteDue(ctx_, false);
  EXPECT_EQ(patched_.size(), 1U);
  EXPECT_EQ(sender_.NextDue() - clock_.Monotonic(), seconds(10));
  sender_.WriteDue(ctx_, true);
  EXPECT_EQ(patched_.size(), 2U) << "a flush writes counts that are not due";
  EXPECT_EQ(sender_.NextDue() - clock_.Monotonic(), minutes(6) - seconds(30));
  clock_.Advance(minutes(6));
  sender_.WriteDue(ctx_, false);
  EXPECT_EQ(sender_.NextDue(), Clock::kNever) << "all series have ended";
}

TEST_F(EventSenderTest, RateLimitDelaysTheCount) {
  // The create and 24 patches use the requests of the object.
  for (int i = 0; i < 2; ++i) Take(0);
  for (int i = 0; i < 23; ++i) {
    Take(0);
    sender_.WriteDue(ctx_, true);
  }
  Clear();
  Take(0);
  sender_.WriteDue(ctx_, true);
  EXPECT_TRUE(patched_.empty());
  EXPECT_EQ(sender_.NextDue() - clock_.Monotonic(), minutes(5));
  clock_.Advance(minutes(5));
  sender_.WriteDue(ctx_, false);
  EXPECT_EQ(patched_.size(), 1U);
}

TEST_F(EventSenderTest, CostOfAnEventDoesNotGrowWithTheNumberOfSeries) {
  const double few = CostWith(64);
  const double many = CostWith(kMaxSeries);
  RecordProperty("nanoseconds_per_event", static_cast<int>(many * 1e9));
  EXPECT_LT(many, few * 8);
}

}  // namespace
}  // namespace cox::sdk
