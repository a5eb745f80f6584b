// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/filters/audit/output/sink.h"
#include "apiserver/testing/fake_output.h"
#include "base/testing/test_clock.h"

namespace cox::apiserver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class BufferedSinkTest : public testing::Test {
 protected:
  std::unique_ptr<AuditSink> Sink(const AuditBatchOptions& options, size_t senders = 1) {
    return NewBufferedSink(ctx_, std::make_unique<FakeOutput>(state_), options, senders, metrics_);
  }
  std::string Lost(std::string_view plugin) {
    const std::string text = registry_.Render();
    const std::string series =
        "apiserver_audit_error_total{plugin=\"" + std::string(plugin) + "\"} ";
    const size_t at = text.find(series);
    if (at == text.npos) return "0";
    return text.substr(at + series.size(), text.find('\n', at) - at - series.size());
  }

  TestClock clock_;
  Context ctx_{clock_};
  MetricsRegistry registry_;
  AuditMetrics metrics_{registry_};
  std::shared_ptr<FakeOutput::State> state_ = std::make_shared<FakeOutput::State>();
};

TEST_F(BufferedSinkTest, FullBatchIsSentAtOnceAndPartialBatchAfterMaxWait) {
  auto sink = Sink({.max_batch = 2, .max_wait = 30s});
  for (const char* text : {"a", "b", "c"}) sink->Process(MakeEvent(text));
  state_->WaitForBatches(1);
  EXPECT_THAT(state_->Batches(), ElementsAre(ElementsAre("a", "b")));
  clock_.WaitForWaiters(1);
  clock_.Advance(29s);
  EXPECT_EQ(state_->Batches().size(), 1u);
  clock_.Advance(1s);
  state_->WaitForBatches(2);
  EXPECT_THAT(state_->Lines(), ElementsAre("a", "b", "c"));
}

TEST_F(BufferedSinkTest, HangingOutputDoesNotBlockAndOverflowIsCounted) {
  state_->SetHang(true);
  auto sink = Sink({.buffer_size = 10, .max_batch = 4, .max_wait = 30s}, /*senders=*/2);
  EXPECT_FALSE(sink->blocks());
  for (int i = 0; i < 4; ++i) sink->Process(MakeEvent("in flight"));
  state_->WaitForWriters(1);
  for (int i = 0; i < 4; ++i) sink->Process(MakeEvent("in flight"));
  state_->WaitForWriters(2);
  // Both senders hang: ten events are buffered, the rest is dropped, and Process never blocks.
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(sink->Process(MakeEvent("x")));
  EXPECT_EQ(Lost("buffered"), "15");
  state_->SetHang(false);
  sink->Stop(10s);
  EXPECT_EQ(state_->Lines().size(), 18u);
  EXPECT_EQ(Lost("buffered"), "15");
}

TEST_F(BufferedSinkTest, BufferedBytesAreLimited) {
  state_->SetHang(true);
  auto sink = Sink({.buffer_size = 10'000, .max_batch = 1});
  sink->Process(MakeEvent("first"));
  state_->WaitForWriters(1);
  const AuditEventPtr large = MakeEvent(std::string(size_t{1} << 20, 'x'));
  for (int i = 0; i < 100; ++i) sink->Process(large);
  EXPECT_EQ(Lost("buffered"), "37");  // 63 events are just below 64 MiB
  state_->SetHang(false);
}

TEST_F(BufferedSinkTest, BatchesAreThrottled) {
  auto sink = Sink({.max_batch = 1, .throttle = true, .qps = 10, .burst = 2});
  for (int i = 0; i < 4; ++i) sink->Process(MakeEvent(std::to_string(i)));
  state_->WaitForBatches(2);
  clock_.WaitForWaiters(1);
  EXPECT_EQ(state_->Batches().size(), 2u);
  clock_.Advance(100ms);
  state_->WaitForBatches(3);
  clock_.WaitForWaiters(1);
  EXPECT_EQ(state_->Batches().size(), 3u);
  clock_.Advance(100ms);
  state_->WaitForBatches(4);
}

TEST_F(BufferedSinkTest, EventsRejectedByOutputAreCounted) {
  state_->SetFail(true);
  auto sink = Sink({.max_batch = 3});
  for (int i = 0; i < 3; ++i) sink->Process(MakeEvent("x"));
  sink->Stop(10s);
  EXPECT_EQ(Lost("fake"), "3");
}

TEST_F(BufferedSinkTest, StopDeliversBufferedEventsWithoutDelay) {
  auto sink = Sink({.max_batch = 2, .max_wait = 1h, .throttle = true, .qps = 0.001, .burst = 1});
  for (int i = 0; i < 7; ++i) sink->Process(MakeEvent(std::to_string(i)));
  sink->Stop(10s);
  EXPECT_THAT(state_->Lines(), ElementsAre("0", "1", "2", "3", "4", "5", "6"));
  // Events after Stop are dropped.
  sink->Process(MakeEvent("late"));
  EXPECT_EQ(Lost("buffered"), "1");
}

TEST_F(BufferedSinkTest, StopDoesNotWaitForHangingOutput) {
  RealClock real;
  state_->SetHang(true);
  auto sink = NewBufferedSink(Context(real), std::make_unique<FakeOutput>(state_),
                              {.buffer_size = 100, .max_batch = 10}, 1, metrics_);
  for (int i = 0; i < 25; ++i) sink->Process(MakeEvent("x"));
  state_->WaitForWriters(1);
  sink->Stop(20ms);
  // All events are counted: those in flight and those in the buffer.
  const auto lost = std::stoi(Lost("buffered")) + std::stoi(Lost("fake"));
  EXPECT_EQ(lost, 25);
}

TEST_F(BufferedSinkTest, DirectSinkRejectsRequestOnlyInStrictMode) {
  for (bool strict : {false, true}) {
    auto state = std::make_shared<FakeOutput::State>();
    auto sink = NewDirectSink(ctx_, std::make_unique<FakeOutput>(state), strict, metrics_);
    EXPECT_TRUE(sink->blocks());
    EXPECT_TRUE(sink->Process(MakeEvent("kept")));
    state->SetFail(true);
    EXPECT_EQ(sink->Process(MakeEvent("lost")), !strict);
    EXPECT_THAT(state->Lines(), ElementsAre("kept"));
  }
  EXPECT_EQ(Lost("fake"), "2");
}

TEST_F(BufferedSinkTest, OversizedBatchesAndEventsAreTruncated) {
  auto output = NewTruncatingOutput(std::make_unique<FakeOutput>(state_),
                                    {.enabled = true, .max_event = 20, .max_batch = 25}, metrics_);
  const std::vector<AuditEventPtr> events = {MakeEvent("0123456789"), MakeEvent("abcdefghij"),
                                             MakeEvent("klmnopqrst"),
                                             MakeEvent(std::string(100, 'x'))};
  EXPECT_EQ(output->Write(ctx_, events).lost, 0u);
  EXPECT_THAT(state_->Batches(),
              ElementsAre(ElementsAre("0123456789", "abcdefghij"), ElementsAre("klmnopqrst")));
  EXPECT_EQ(Lost("truncate"), "1");
}

}  // namespace
}  // namespace cox::apiserver
