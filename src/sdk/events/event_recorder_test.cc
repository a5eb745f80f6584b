// SPDX-License-Identifier: Apache-2.0
#include "coxswain/event_recorder.h"

#include <gtest/gtest.h>

#include <atomic>

#include "api/core/v1.h"
#include "api/events/v1.h"
#include "base/testing/test_clock.h"
#include "sdk/client/retry.h"
#include "sdk/testing/function_client.h"

namespace cox {
namespace {

using core::v1::Pod;
using events::v1::Event;
using std::chrono::minutes;
using std::chrono::seconds;

class EventRecorderTest : public ::testing::Test {
 protected:
  EventRecorderTest() {
    client_.execute = [this](Context&, const Operation& operation) { return Serve(operation); };
    recorder_ = EventRecorder::Create(
        ctx_, client_,
        {.controller = "example.com/test", .instance = "here", .metrics = &metrics_});
    pod_.metadata.namespace_ = "ns";
    pod_.metadata.name = "web";
    pod_.metadata.uid = "u1";
    pod_.metadata.resourceVersion = "12";
  }
  ~EventRecorderTest() override { ctx_.Stop(); }

  Result<Object> Serve(const Operation& operation) {
    MutexLock lock(mu_);
    ++requests_;
    sent_once_ = operation.headers.Get(sdk::kSendOnce).has_value();
    changed_.NotifyAll();
    if (!answers_.empty()) {
      const Status answer = answers_.front();
      answers_.erase(answers_.begin());
      if (!answer.ok()) return answer;
    }
    if (operation.verb == Operation::Verb::kCreate) {
      created_.push_back(*operation.body->As<Event>());
    } else {
      patches_.push_back(operation.key.ToString() + " " + operation.patch->body);
    }
    return Object::Of(Event());
  }
  void Answer(std::vector<Status> answers) {
    MutexLock lock(mu_);
    answers_ = std::move(answers);
  }
  void AwaitRequests(int count) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&] {
      mu_.AssertHeld();
      return requests_ >= count;
    });
  }
  void Record(std::string_view reason = "Failed", std::string_view note = "why") {
    recorder_->Record(pod_, EventKind::kWarning, reason, "Mounting", note);
  }
  void Flush() { EXPECT_TRUE(recorder_->Flush(ctx_).ok()); }
  List<Event> created() {
    MutexLock lock(mu_);
    return created_;
  }
  std::vector<std::string> patches() {
    MutexLock lock(mu_);
    return patches_;
  }
  bool Counted(std::string_view result, int count) {
    return metrics_.Render().find("coxswain_events_total{result=\"" + std::string(result) + "\"} " +
                                  std::to_string(count) + "\n") != std::string::npos;
  }

  TestClock clock_;
  Context ctx_{clock_};
  MetricsRegistry metrics_;
  sdk::FunctionClient client_;
  Mutex mu_;
  CondVar changed_;
  int requests_ COX_GUARDED_BY(mu_) = 0;
  std::atomic<bool> sent_once_ = false;
  std::vector<Status> answers_ COX_GUARDED_BY(mu_);
  List<Event> created_ COX_GUARDED_BY(mu_);
  std::vector<std::string> patches_ COX_GUARDED_BY(mu_);
  std::unique_ptr<EventRecorder> recorder_;
  Pod pod_;
};

TEST_F(EventRecorderTest, CreatesAnEventWithAllRequiredFields) {
  Record();
  Flush();
  ASSERT_EQ(created().size(), 1u);
  const Event event = created()[0];
  EXPECT_EQ(event.metadata.namespace_, "ns");
  EXPECT_EQ(event.metadata.name.rfind("web.", 0), 0u) << event.metadata.name;
  EXPECT_EQ(event.eventTime.ToString(), "2030-01-02T03:04:05.000000Z");
  EXPECT_EQ(event.reportingController, "example.com/test");
  EXPECT_EQ(event.reportingInstance, "here");
  EXPECT_EQ(event.reason, "Failed");
  EXPECT_EQ(event.action, "Mounting");
  EXPECT_EQ(event.note, "why");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.regarding.apiVersion, "v1");
  EXPECT_EQ(event.regarding.kind, "Pod");
  EXPECT_EQ(event.regarding.namespace_, "ns");
  EXPECT_EQ(event.regarding.name, "web");
  EXPECT_EQ(event.regarding.uid, "u1");
  EXPECT_EQ(event.regarding.resourceVersion, "12");
  EXPECT_FALSE(event.series);
  EXPECT_TRUE(Counted("created", 1));
}

TEST_F(EventRecorderTest, RecordsEventsAboutAnyKind) {
  recorder_->Record(
      Object({"example.com", "v1", "Zone"}, types::kAny,
             Value::MakeObject({{"metadata", Value::MakeObject({{"name", "north"}})}})),
      EventKind::kNormal, "Synced", "", std::string(3000, 'x'));
  Flush();
  const Event event = created().at(0);
  EXPECT_EQ(event.metadata.namespace_, "default") << "it has none";
  EXPECT_EQ(event.regarding.namespace_, "");
  EXPECT_EQ(event.regarding.apiVersion, "example.com/v1");
  EXPECT_EQ(event.action, "Synced") << "the API wants one";
  EXPECT_EQ(event.note.size(), 1024u);
}

TEST_F(EventRecorderTest, EqualEventsFormASeries) {
  Record("Failed", "first");
  Flush();
  clock_.Advance(seconds(1));
  Record("Failed", "second");
  Record("Other");
  Flush();
  ASSERT_EQ(created().size(), 2u);
  EXPECT_NE(created()[0].metadata.name, created()[1].metadata.name);
  ASSERT_EQ(patches().size(), 1u) << "the second is told at once";
  EXPECT_EQ(patches()[0],
            "ns/" + created()[0].metadata.name +
                R"( {"series":{"count":2,"lastObservedTime":"2030-01-02T03:04:06.000000Z"}})");
  for (int i = 0; i < 50; ++i) Record();
  Flush();
  ASSERT_EQ(patches().size(), 2u) << "further ones together";
  EXPECT_NE(patches()[1].find("\"count\":52"), std::string::npos);
  EXPECT_TRUE(Counted("counted", 51));
}

TEST_F(EventRecorderTest, GrowingCountIsWrittenEveryThirtySeconds) {
  Record();
  Record();
  Record();
  AwaitRequests(2);
  // The sender waits until the count is due.
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(30));
  AwaitRequests(3);
  EXPECT_NE(patches().at(1).find("\"count\":3"), std::string::npos);
}

TEST_F(EventRecorderTest, SeriesEndsAfterSixMinutesWithoutAnEvent) {
  Record();
  Flush();
  clock_.Advance(minutes(5));
  Record();
  Flush();
  clock_.Advance(minutes(5));
  Record();
  Flush();
  EXPECT_EQ(created().size(), 1u);
  clock_.Advance(minutes(6) + seconds(1));
  Record();
  Flush();
  EXPECT_EQ(created().size(), 2u);
}

TEST_F(EventRecorderTest, EventsPerObjectAreRateLimited) {
  for (int i = 0; i < 40; ++i) Record("Reason" + std::to_string(i));
  Flush();
  EXPECT_EQ(created().size(), 25u);
  EXPECT_TRUE(Counted("filtered", 15)) << metrics_.Render();
  pod_.metadata.name = "other";
  Record();
  Flush();
  EXPECT_EQ(created().size(), 26u) << "each object has its share";
  pod_.metadata.name = "web";
  clock_.Advance(seconds(300));
  Record("Later");
  Record("TooMuch");
  Flush();
  EXPECT_EQ(created().size(), 27u);
}

TEST_F(EventRecorderTest, TransientErrorsAreRetried) {
  Answer({Status::Unavailable("a"), Status::Internal("b")});
  Record();
  AwaitRequests(1);
  clock_.WaitForWaiters(1);
  clock_.Advance(std::chrono::milliseconds(500));
  AwaitRequests(2);
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(1));
  Flush();
  EXPECT_EQ(created().size(), 1u);
  EXPECT_TRUE(Counted("dropped", 0));
}

TEST_F(EventRecorderTest, EventsThatAnOverloadedServerRejectsTwiceAreDropped) {
  const Status overloaded(Reason::kTooManyRequests, "later",
                          StatusDetails{.retry_after_seconds = 3});
  Answer({overloaded, overloaded});
  Record("First");
  AwaitRequests(1);
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(3));
  Flush();
  EXPECT_TRUE(created().empty());
  EXPECT_TRUE(Counted("dropped", 1));
  Record("Second");
  Flush();
  EXPECT_EQ(created().size(), 1u) << "the next one is tried";
}

TEST_F(EventRecorderTest, RequestsAreSentOnce) {
  Record();
  Flush();
  EXPECT_TRUE(sent_once_);
}

TEST_F(EventRecorderTest, AlreadyExistsAfterALostResponseIsSuccess) {
  Answer({Status::AlreadyExists("it went through")});
  Record();
  Record();
  Flush();
  EXPECT_EQ(patches().size(), 1u);
  EXPECT_TRUE(Counted("created", 1));
}

TEST_F(EventRecorderTest, RejectedEventsAreDropped) {
  Answer({Status::Forbidden("the namespace is being terminated")});
  Record();
  Flush();
  EXPECT_TRUE(created().empty());
  EXPECT_TRUE(Counted("dropped", 1));
  Record();
  Flush();
  EXPECT_EQ(created().size(), 1u) << "the next one is tried";
}

TEST_F(EventRecorderTest, SeriesContinuesInANewEventAfterExpiration) {
  Record();
  Flush();
  Answer({Status::NotFound("expired")});
  Record();
  Flush();
  ASSERT_EQ(created().size(), 2u);
  ASSERT_TRUE(created()[1].series);
  EXPECT_EQ(created()[1].series->count, 2);
  EXPECT_NE(created()[0].metadata.name, created()[1].metadata.name);
  Record();
  Flush();
  EXPECT_NE(patches().at(0).find(created()[1].metadata.name), std::string::npos);
}

TEST_F(EventRecorderTest, NeverBlocksWhenTheQueueIsFull) {
  // The sender waits for its first retry.
  Answer({Status::Unavailable("a")});
  Record();
  AwaitRequests(1);
  clock_.WaitForWaiters(1);
  for (int i = 0; i < 1500; ++i) Record();
  EXPECT_TRUE(Counted("dropped", 500)) << metrics_.Render();
}

TEST_F(EventRecorderTest, NothingIsSentAfterTheContextStopped) {
  ctx_.Stop();
  Context ctx(clock_);
  EXPECT_FALSE(recorder_->Flush(ctx).ok());
  Record();
  EXPECT_TRUE(Counted("dropped", 1));
}

}  // namespace
}  // namespace cox
