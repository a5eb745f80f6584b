// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "api/core/v1.h"
#include "base/testing/test_clock.h"
#include "coxswain/transport.h"
#include "net/websocket.h"
#include "sdk/client/response/stored_events.h"

namespace cox {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Simulates a watch: events arrive from another thread and wake the reader.
class Feed {
 public:
  void Put(std::string text) {
    std::shared_ptr<net::Waker> waker;
    {
      MutexLock lock(mu_);
      events_.push_back(Bytes(std::move(text)));
      waker = waker_;
    }
    if (waker != nullptr) waker->Wake();
  }
  void End() {
    std::shared_ptr<net::Waker> waker;
    {
      MutexLock lock(mu_);
      ended_ = true;
      waker = waker_;
    }
    if (waker != nullptr) waker->Wake();
  }
  void SetWaker(std::shared_ptr<net::Waker> waker) {
    MutexLock lock(mu_);
    waker_ = std::move(waker);
    changed_.NotifyAll();
  }
  net::BodySource::State Take(std::vector<Bytes>* out) {
    MutexLock lock(mu_);
    ++pulls_;
    changed_.NotifyAll();
    if (!events_.empty()) {
      out->push_back(std::move(events_.front()));
      events_.pop_front();
      return net::BodySource::State::kMore;
    }
    return ended_ ? net::BodySource::State::kEnd : net::BodySource::State::kWait;
  }
  void SourceGone() {
    MutexLock lock(mu_);
    gone_ = true;
    changed_.NotifyAll();
  }
  bool gone() {
    MutexLock lock(mu_);
    return gone_;
  }
  int pulls() {
    MutexLock lock(mu_);
    return pulls_;
  }
  void AwaitPulls(const Context& ctx, int n) {
    MutexLock lock(mu_);
    EXPECT_TRUE(ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return pulls_ >= n; }).ok());
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::deque<Bytes> events_ COX_GUARDED_BY(mu_);
  std::shared_ptr<net::Waker> waker_ COX_GUARDED_BY(mu_);
  bool ended_ COX_GUARDED_BY(mu_) = false;
  bool gone_ COX_GUARDED_BY(mu_) = false;
  int pulls_ COX_GUARDED_BY(mu_) = 0;
};

class FeedSource final : public net::BodySource {
 public:
  explicit FeedSource(Feed& feed) : feed_(feed) {}
  ~FeedSource() override { feed_.SourceGone(); }
  State Pull(size_t, std::vector<Bytes>* out) override { return feed_.Take(out); }

 private:
  Feed& feed_;
};

// A watch whose client reads stored events. A feed's text is the version of an event.
class EventSource final : public net::BodySource, public sdk::StoredEventSource {
 public:
  explicit EventSource(Feed& feed) : feed_(feed) {}
  ~EventSource() override { feed_.SourceGone(); }
  State Pull(size_t, std::vector<Bytes>* out) override { return feed_.Take(out); }
  net::Content* content() override { return this; }
  const KindInfo& kind() const override { return core::v1::ConfigMap::kKind; }
  Result<std::optional<sdk::StoredEvent>> Take() override {
    std::vector<Bytes> texts;
    const State state = feed_.Take(&texts);
    if (state == State::kEnd) return EndOfWatch();
    if (texts.empty()) return std::optional<sdk::StoredEvent>();
    if (texts.front().view() == "error") return Status::Expired("too old");
    return sdk::StoredEvent{.type = EventType::kBookmark,
                            .version = std::atoll(std::string(texts.front().view()).c_str())};
  }

 private:
  Feed& feed_;
};

class InProcessTest : public testing::Test {
 protected:
  std::shared_ptr<Transport> Make(net::Handler handler) {
    return MakeInProcessTransport(server_, std::move(handler), "Bearer t");
  }
  // Responds with the content of the feed.
  std::shared_ptr<Transport> MakeFed() {
    return Make([this](const net::ExchangePtr& exchange) {
      request_context_ = exchange->context();
      feed_.SetWaker(exchange->Stream(200, {{"x", "y"}}, std::make_unique<FeedSource>(feed_)));
    });
  }
  // A running watch with stored events.
  std::unique_ptr<net::ClientStream> StartEvents() {
    const auto transport = Make([this](const net::ExchangePtr& exchange) {
      feed_.SetWaker(exchange->Stream(200, {}, std::make_unique<EventSource>(feed_)));
    });
    auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
    EXPECT_TRUE(stream.ok());
    return *std::move(stream);
  }
  static sdk::StoredEventStream& EventsOf(net::ClientStream& stream) {
    auto* const events = dynamic_cast<sdk::StoredEventStream*>(stream.content());
    EXPECT_NE(events, nullptr);
    return *events;
  }
  std::string Read(net::ClientStream& stream) {
    auto piece = stream.Read(caller_);
    EXPECT_TRUE(piece.ok()) << piece.status().ToString();
    return piece.ok() ? std::string(piece->view()) : "";
  }

  TestClock clock_;
  Context server_{clock_};
  Context caller_{clock_};
  std::optional<Context> request_context_;
  Feed feed_;
};

std::string TextOf(const net::Response& response) {
  std::string text;
  for (const Bytes& piece : response.body) text += piece.view();
  return text;
}

TEST_F(InProcessTest, HandlerReceivesTheRequestLikeFromAConnection) {
  net::Request seen;
  const auto transport = Make([&](const net::ExchangePtr& exchange) {
    seen = exchange->request();
    exchange->Send({.status = 201, .headers = {{"a", "b"}}, .body = {Bytes(std::string("out"))}});
  });
  net::Request request{.method = "POST", .target = "/api/v1/pods?limit=1"};
  request.headers.Add("authorization", "Bearer somebody-else");
  request.body = "in";
  auto response = transport->Do(caller_, std::move(request));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->headers.Get("a"), "b");
  EXPECT_EQ(TextOf(*response), "out");
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path(), "/api/v1/pods");
  EXPECT_EQ(seen.query(), "limit=1");
  EXPECT_EQ(seen.body, "in");
  EXPECT_EQ(seen.peer->address, "pipe");
  EXPECT_TRUE(seen.headers.Get("host"));
  EXPECT_THAT(seen.headers.All("authorization"), ElementsAre("Bearer t"));
}

TEST_F(InProcessTest, BodiesAreNotCopied) {
  const Bytes body(std::string(100'000, 'x'));
  const auto transport = Make(
      [&](const net::ExchangePtr& exchange) { exchange->Send({.headers = {}, .body = {body}}); });
  auto response = transport->Do(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->body.size(), 1U);
  EXPECT_EQ(response->body[0].data(), body.data());
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ((*stream)->Read(caller_)->data(), body.data());
  EXPECT_TRUE((*stream)->Read(caller_)->empty());
}

TEST_F(InProcessTest, ResponseMayComeFromAnotherThread) {
  std::thread worker;
  const auto transport = Make([&](net::ExchangePtr exchange) {
    worker = std::thread([exchange = std::move(exchange)]() mutable {
      exchange->Send({.headers = {}, .body = {Bytes::Static("late")}});
      exchange.reset();
    });
  });
  auto response = transport->Do(caller_, {.method = "GET", .target = "/"});
  worker.join();
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(TextOf(*response), "late");
}

TEST_F(InProcessTest, UnansweredRequestGets500) {
  const auto transport = Make([](const net::ExchangePtr&) {});
  auto response = transport->Do(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 500);
  EXPECT_EQ(TextOf(*response), "the request was not answered\n");
}

TEST_F(InProcessTest, DestroyingAWebSocketStopsTheRequest) {
  std::unique_ptr<net::WebSocket> served;
  const auto transport = Make([&](const net::ExchangePtr& exchange) {
    request_context_ = exchange->context();
    auto upgraded = exchange->Upgrade({"v5"}, {});
    ASSERT_TRUE(upgraded.ok()) << upgraded.status().ToString();
    served = *std::move(upgraded);
  });
  auto socket = transport->OpenWebSocket(caller_, {.method = "GET", .target = "/exec"}, {"v5"});
  ASSERT_TRUE(socket.ok()) << socket.status().ToString();
  EXPECT_FALSE(request_context_->Done());
  socket->reset();
  EXPECT_TRUE(request_context_->Done());
}

TEST_F(InProcessTest, DoCollectsAStream) {
  const auto transport = MakeFed();
  feed_.Put("a");
  feed_.Put("");
  feed_.Put("b");
  std::thread other([this] {
    feed_.AwaitPulls(caller_, 4);  // a, an empty piece, b, then it waits
    feed_.Put("c");
    feed_.End();
  });
  auto response = transport->Do(caller_, {.method = "GET", .target = "/"});
  other.join();
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->headers.Get("x"), "y");
  EXPECT_EQ(TextOf(*response), "abc");
  EXPECT_TRUE(feed_.gone());
  EXPECT_FALSE(request_context_->Done());  // it ended normally
}

TEST_F(InProcessTest, StreamIsPulledOnlyWhenRead) {
  const auto transport = MakeFed();
  for (int i = 0; i < 100; ++i) feed_.Put(std::to_string(i));
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ((*stream)->status(), 200);
  EXPECT_EQ((*stream)->headers().Get("x"), "y");
  EXPECT_EQ(feed_.pulls(), 0);
  EXPECT_EQ(Read(**stream), "0");
  EXPECT_EQ(Read(**stream), "1");
  EXPECT_EQ(feed_.pulls(), 2);
}

TEST_F(InProcessTest, WaitingReaderIsWoken) {
  const auto transport = MakeFed();
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  std::thread writer([this] {
    for (int i = 0; i < 1000; ++i) feed_.Put("event");
    feed_.End();
  });
  int events = 0;
  while (Read(**stream) == "event") ++events;
  writer.join();
  EXPECT_EQ(events, 1000);
  EXPECT_TRUE(feed_.gone());
}

TEST_F(InProcessTest, StreamIsReadWithoutBlocking) {
  const auto transport = MakeFed();
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  int ready = 0;
  const auto read = [&]() -> std::string {
    auto piece = (*stream)->TryRead([&] { ++ready; });
    EXPECT_TRUE(piece.ok()) << piece.status().ToString();
    if (!piece.ok() || !piece->has_value()) return "nothing";
    return std::string((*piece)->view());
  };
  EXPECT_EQ(read(), "nothing");
  EXPECT_EQ(ready, 0);
  feed_.Put("one");
  feed_.Put("two");
  EXPECT_EQ(ready, 1) << "called once";
  EXPECT_EQ(read(), "one");
  EXPECT_EQ(read(), "two");
  EXPECT_EQ(read(), "nothing");
  feed_.End();
  EXPECT_EQ(ready, 2);
  EXPECT_EQ(read(), "");
}

TEST_F(InProcessTest, NonBlockingReaderLearnsThatTheServerStops) {
  const auto transport = MakeFed();
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  int ready = 0;
  ASSERT_FALSE((*stream)->TryRead([&] { ++ready; })->has_value());
  server_.Stop();
  EXPECT_EQ(ready, 1);
  EXPECT_TRUE((**(*stream)->TryRead([] {})).empty());
}

TEST_F(InProcessTest, StreamOfBytesHasNoContent) {
  const auto transport = MakeFed();
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ((*stream)->content(), nullptr);
}

TEST_F(InProcessTest, StoredEventsAreReadInOrder) {
  const auto stream = StartEvents();
  sdk::StoredEventStream& events = EventsOf(*stream);
  EXPECT_EQ(&events.kind(), &core::v1::ConfigMap::kKind);
  std::thread writer([&] {
    feed_.AwaitPulls(caller_, 1);
    feed_.Put("7");
    feed_.Put("8");
    feed_.End();
  });
  for (const int64_t version : {7, 8}) {
    const auto event = events.Next(caller_);
    ASSERT_TRUE(event.ok()) << event.status().ToString();
    EXPECT_EQ(event->version, version);
  }
  writer.join();
  EXPECT_TRUE(IsEndOfWatch(events.Next(caller_).status()));
  EXPECT_TRUE(feed_.gone());
  EXPECT_EQ(stream->content(), nullptr);
}

TEST_F(InProcessTest, StoredEventsAreReadWithoutBlocking) {
  const auto stream = StartEvents();
  sdk::StoredEventStream& events = EventsOf(*stream);
  int ready = 0;
  const auto read = [&]() -> int64_t {
    const auto event = events.TryNext([&] { ++ready; });
    EXPECT_TRUE(event.ok()) << event.status().ToString();
    return event.ok() && event->has_value() ? (*event)->version : 0;
  };
  EXPECT_EQ(read(), 0);
  feed_.Put("7");
  feed_.Put("8");
  EXPECT_EQ(ready, 1) << "called once";
  EXPECT_EQ(read(), 7);
  EXPECT_EQ(read(), 8);
  EXPECT_EQ(read(), 0);
  feed_.Put("error");
  EXPECT_EQ(ready, 2);
  EXPECT_TRUE(events.TryNext(nullptr).status().Is(Reason::kExpired));
}

TEST_F(InProcessTest, StoredEventsEndWhenTheServerStops) {
  const auto stream = StartEvents();
  sdk::StoredEventStream& events = EventsOf(*stream);
  int ready = 0;
  ASSERT_FALSE(events.TryNext([&] { ++ready; })->has_value());
  feed_.Put("7");
  server_.Stop();
  EXPECT_EQ(ready, 1);
  EXPECT_EQ((*events.TryNext(nullptr))->version, 7) << "it occurred before the stop";
  EXPECT_TRUE(IsEndOfWatch(events.TryNext(nullptr).status()));
}

TEST_F(InProcessTest, WaitForStoredEventEndsWithItsContext) {
  const auto stream = StartEvents();
  sdk::StoredEventStream& events = EventsOf(*stream);
  Context first = caller_.Child();
  std::thread stopper([&] {
    feed_.AwaitPulls(caller_, 1);
    first.Stop(Status::Timeout("enough"));
  });
  EXPECT_EQ(events.Next(first).status().message(), "enough");
  stopper.join();
  feed_.Put("7");
  EXPECT_EQ(events.Next(caller_)->version, 7);
}

TEST_F(InProcessTest, DestroyingAStreamStopsTheRequestAndItsSource) {
  const auto transport = MakeFed();
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  EXPECT_FALSE(request_context_->Done());
  stream->reset();
  EXPECT_TRUE(request_context_->Done());
  EXPECT_TRUE(feed_.gone());
  feed_.Put("nobody hears it");
}

TEST_F(InProcessTest, ReadEndsWithItsContextAndCanBeRepeated) {
  const auto transport = MakeFed();
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  Context first = caller_.Child();
  std::thread stopper([&] {
    feed_.AwaitPulls(caller_, 1);
    first.Stop(Status::Timeout("enough"));
  });
  auto piece = (*stream)->Read(first);
  stopper.join();
  EXPECT_EQ(piece.status().message(), "enough");
  feed_.Put("more");
  EXPECT_EQ(Read(**stream), "more");
}

TEST_F(InProcessTest, CanceledCallStopsTheRequest) {
  net::ExchangePtr kept;
  Mutex mu;
  CondVar changed;
  const auto transport = Make([&](net::ExchangePtr exchange) {
    MutexLock lock(mu);
    kept = std::move(exchange);
    changed.NotifyAll();
  });
  Context call = caller_.Child();
  std::thread stopper([&] {
    MutexLock lock(mu);
    EXPECT_TRUE(caller_.Await(mu, changed, [&] { return kept != nullptr; }).ok());
    call.Stop(Status::Timeout("too slow"));
  });
  auto response = transport->Do(call, {.method = "GET", .target = "/"});
  stopper.join();
  EXPECT_EQ(response.status().message(), "too slow");
  EXPECT_FALSE(NotSent(response.status()));
  EXPECT_TRUE(kept->context().Done());
  // The response is too late: its source is destroyed at once.
  feed_.SetWaker(kept->Stream(200, {}, std::make_unique<FeedSource>(feed_)));
  EXPECT_TRUE(feed_.gone());
  kept.reset();
}

TEST_F(InProcessTest, StreamDeliversPendingDataWhenTheServerStops) {
  const auto transport = MakeFed();
  auto stream = transport->Start(caller_, {.method = "GET", .target = "/"});
  ASSERT_TRUE(stream.ok());
  feed_.Put("last");
  std::thread stopper([this] {
    feed_.AwaitPulls(caller_, 2);
    server_.Stop();
  });
  EXPECT_EQ(Read(**stream), "last");
  EXPECT_EQ(Read(**stream), "");
  stopper.join();
  EXPECT_TRUE(feed_.gone());
  const auto after = transport->Do(caller_, {.method = "GET", .target = "/"});
  EXPECT_EQ(after.status().reason(), Reason::kServiceUnavailable);
  EXPECT_TRUE(NotSent(after.status()));
}

TEST_F(InProcessTest, ConcurrentCallsAndCancellations) {
  std::vector<std::thread> workers;
  Mutex mu;
  CondVar changed;
  std::deque<net::ExchangePtr> queue;
  bool closed = false;
  const auto transport = Make([&](net::ExchangePtr exchange) {
    MutexLock lock(mu);
    queue.push_back(std::move(exchange));
    changed.NotifyOne();
  });
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      for (;;) {
        net::ExchangePtr exchange;
        {
          MutexLock lock(mu);
          changed.Wait(mu, [&] { return closed || !queue.empty(); });
          if (queue.empty()) return;
          exchange = std::move(queue.front());
          queue.pop_front();
        }
        net::Response response;
        response.body.push_back(Bytes(exchange->request().target));
        exchange->Send(std::move(response));
      }
    });
  }
  std::atomic<int> answered = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      for (int n = 0; n < 300; ++n) {
        const std::string target = "/" + std::to_string(i) + "/" + std::to_string(n);
        Context call = caller_.Child();
        if (n % 3 == 0) call.Stop();
        auto response = transport->Do(call, {.method = "GET", .target = target});
        if (!response.ok()) continue;
        EXPECT_EQ(TextOf(*response), target);
        ++answered;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(answered, 4 * 200);
  {
    MutexLock lock(mu);
    closed = true;
    changed.NotifyAll();
  }
  for (auto& worker : workers) worker.join();
}

}  // namespace
}  // namespace cox
