// SPDX-License-Identifier: Apache-2.0
#include "net/grpc/connection.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/grpc/channel.h"
#include "net/testing/fake_grpc_server.h"

namespace cox::net::grpc {
namespace {

using std::chrono::seconds;
using Kind = FakeServer::Action::Kind;
using Actions = std::vector<FakeServer::Action>;
using Outcome = Reply::Outcome;

enum class Caller { kThread, kFiber };

// Each test runs on a thread, whose connection has a reading thread, and in a fiber of an event
// loop, which reads its connection.
class ConnectionTest : public testing::TestWithParam<Caller> {
 protected:
  ~ConnectionTest() override { loop_->Stop(); }

  void Run(const std::function<void()>& test) {
    if (GetParam() == Caller::kThread) return test();
    ASSERT_TRUE(loop_->Start("test").ok());
    Mutex mu;
    CondVar changed;
    bool done = false;
    loop_->RunFiber([&] {
      test();
      MutexLock lock(mu);
      done = true;
      changed.NotifyAll();
    });
    MutexLock lock(mu);
    changed.Wait(mu, [&] { return done; });
  }
  void Serve(FakeServer::Script script) {
    server_ = std::make_unique<FakeServer>(ctx_, std::move(script));
    Endpoint endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = server_->port();
    channel_ = *Channel::Create(ctx_, "test", {.endpoints = {endpoint}, .connection = options_});
  }
  std::shared_ptr<Connection> Connect(FakeServer::Script script) {
    Serve(std::move(script));
    return *channel_->Get(ctx_);
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(seconds(30));
  ConnectionOptions options_;
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<Channel> channel_;
  const std::shared_ptr<EventLoop> loop_ = std::make_shared<EventLoop>(clock_);
};
INSTANTIATE_TEST_SUITE_P(Callers, ConnectionTest, testing::Values(Caller::kThread, Caller::kFiber),
                         [](const auto& info) {
                           return info.param == Caller::kThread ? "Thread" : "Fiber";
                         });

TEST_P(ConnectionTest, ServerStreamingCallReturnsAllMessages) {
  Run([&] {
    const auto connection = Connect([](const FakeServer::Request& request) -> Actions {
      return {{Kind::kMessage, 0, request.message + "1"},
              {Kind::kMessage, 0, request.message + "2"},
              {Kind::kEnd, 5, "no more"}};
    });
    const auto stream = connection->Start("/s/Events", Framed("e"));
    EXPECT_EQ(stream->Receive(ctx_).message, "e1");
    EXPECT_EQ(stream->Receive(ctx_).message, "e2");
    const Reply end = stream->Receive(ctx_);
    EXPECT_EQ(end.outcome, Outcome::kStatus);
    EXPECT_EQ(end.code, 5);
    EXPECT_EQ(end.text, "no more");
  });
}

TEST_P(ConnectionTest, StreamContinuesAfterStoppedReceive) {
  Run([&] {
    const auto connection = Connect([](const FakeServer::Request& request) -> Actions {
      if (request.method == "/s/Events") return {{Kind::kMessage, 0, "first"}};
      return {{Kind::kMessage, 0, "answer"}, {Kind::kEnd, 0, ""}};
    });
    const auto stream = connection->Start("/s/Events", Framed(""));
    EXPECT_EQ(stream->Receive(ctx_).message, "first");
    Context stopped = ctx_.Child();
    stopped.Stop();
    EXPECT_EQ(stream->Receive(stopped).outcome, Outcome::kStopped);
    // Other calls continue on the same connection.
    EXPECT_EQ(connection->Call(ctx_, "/s/Get", Framed("")).message, "answer");
    EXPECT_EQ(server_->connections(), 1);
  });
}

TEST_P(ConnectionTest, DestroyingStreamResetsIt) {
  Run([&] {
    const auto connection = Connect([](const FakeServer::Request&) -> Actions {
      return {{Kind::kMessage, 0, "first"}};
    });
    auto stream = connection->Start("/s/Events", Framed(""));
    EXPECT_EQ(stream->Receive(ctx_).message, "first");
    stream.reset();
    EXPECT_EQ(server_->AwaitResets(ctx_, 1), Status());
  });
}

TEST_P(ConnectionTest, CallIsResetWhenItsContextStops) {
  Run([&] {
    Context pull = ctx_.Child();
    const auto connection = Connect([&](const FakeServer::Request& request) -> Actions {
      if (request.method == "/s/Pull") {
        pull.Stop(Status::Timeout("enough"));
        return {};  // no response
      }
      return {{Kind::kMessage, 0, "here"}, {Kind::kEnd, 0, ""}};
    });
    const Reply reply = connection->Call(pull, "/s/Pull", Framed("image"));
    EXPECT_EQ(reply.outcome, Outcome::kStopped);
    EXPECT_EQ(reply.text, "enough");
    EXPECT_EQ(server_->AwaitResets(ctx_, 1), Status());
    EXPECT_EQ(connection->Call(ctx_, "/s/Status", Framed("")).message, "here");
  });
}

// The replies of asynchronous calls.
class Replies {
 public:
  std::function<void(Reply)> Next() {
    return [this](Reply reply) {
      MutexLock lock(mu_);
      replies_.push_back(std::move(reply));
      changed_.NotifyAll();
    };
  }
  std::vector<Reply> Await(const Context& ctx, size_t count) {
    MutexLock lock(mu_);
    EXPECT_TRUE(
        ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return replies_.size() >= count; })
            .ok());
    return replies_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<Reply> replies_ COX_GUARDED_BY(mu_);
};

TEST_P(ConnectionTest, AsynchronousCallsWaitWithoutThread) {
  Run([&] {
    constexpr int kCalls = 200;
    const auto connection = Connect([](const FakeServer::Request& request) -> Actions {
      if (request.method == "/s/Wait") return {};  // no response
      if (request.method == "/s/Fail") return {{Kind::kEnd, 5, "not here"}};
      return {{Kind::kMessage, 0, request.message + "!"}, {Kind::kEnd, 0, ""}};
    });
    Context waiting = ctx_.Child();
    Replies stopped;
    for (int i = 0; i < kCalls; ++i) {
      connection->CallAsync(waiting, "/s/Wait", Framed(""), stopped.Next());
    }
    Replies ended;
    connection->CallAsync(ctx_, "/s/Get", Framed("a"), ended.Next());
    EXPECT_EQ(ended.Await(ctx_, 1)[0].message, "a!");
    connection->CallAsync(ctx_, "/s/Fail", Framed("a"), ended.Next());
    const Reply failed = ended.Await(ctx_, 2)[1];
    EXPECT_EQ(failed.outcome, Outcome::kStatus);
    EXPECT_EQ(failed.code, 5);

    waiting.Stop(Status::Timeout("enough"));
    for (const Reply& reply : stopped.Await(ctx_, kCalls)) {
      EXPECT_EQ(reply.outcome, Outcome::kStopped);
      EXPECT_EQ(reply.text, "enough");
    }
    EXPECT_EQ(server_->AwaitResets(ctx_, kCalls), Status());
    connection->CallAsync(waiting, "/s/Get", Framed(""), stopped.Next());  // already stopped
    EXPECT_EQ(stopped.Await(ctx_, kCalls + 1).back().outcome, Outcome::kStopped);
    EXPECT_EQ(server_->connections(), 1);
  });
}

TEST_P(ConnectionTest, AsynchronousCallsEndWithConnection) {
  Run([&] {
    const auto connection = Connect([](const FakeServer::Request& request) -> Actions {
      if (request.method == "/s/Wait") return {};
      return {{Kind::kHangUp, 0, ""}};
    });
    Replies replies;
    connection->CallAsync(ctx_, "/s/Wait", Framed(""), replies.Next());
    connection->CallAsync(ctx_, "/s/Break", Framed(""), replies.Next());
    for (const Reply& reply : replies.Await(ctx_, 2)) EXPECT_EQ(reply.outcome, Outcome::kBroken);
    connection->CallAsync(ctx_, "/s/Wait", Framed(""), replies.Next());
    EXPECT_EQ(replies.Await(ctx_, 3)[2].outcome, Outcome::kRefused);
  });
}

// The first caller opens the connection, which must outlive that caller's context and clock.
TEST_P(ConnectionTest, ConnectionOutlivesClockOfItsFirstCaller) {
  Run([&] {
    Serve([](const FakeServer::Request&) -> Actions {
      return {{Kind::kMessage, 0, "here"}, {Kind::kEnd, 0, ""}};
    });
    auto clock = std::make_unique<RealClock>();
    const auto connection = *channel_->Get(Context(*clock).WithTimeout(seconds(30)));
    clock.reset();
    EXPECT_EQ(connection->Call(ctx_, "/s/Status", Framed("")).message, "here");
    EXPECT_EQ(*channel_->Get(ctx_), connection);
  });
}

TEST_P(ConnectionTest, MessagesLargerThanTheBuffersOfTheSocketAreSent) {
  Run([&] {
    const auto connection = Connect([](const FakeServer::Request& request) -> Actions {
      return {{Kind::kMessage, 0, request.message}, {Kind::kEnd, 0, ""}};
    });
    const std::string large(6u << 20, 'x');
    EXPECT_EQ(connection->Call(ctx_, "/s/Echo", Framed(large)).message, large);
  });
}

TEST_P(ConnectionTest, SilentServerIsDetected) {
  Run([&] {
    options_.keepalive_time = std::chrono::milliseconds(20);
    options_.keepalive_timeout = std::chrono::milliseconds(20);
    const auto connection = Connect([](const FakeServer::Request&) -> Actions {
      return {{Kind::kFreeze, 0, ""}};
    });
    EXPECT_EQ(connection->Call(ctx_, "/s/Get", Framed("")).outcome, Outcome::kBroken);
    EXPECT_FALSE(connection->usable());
  });
}

TEST_P(ConnectionTest, ClosedChannelEndsCallsAndRejectsNewOnes) {
  Run([&] {
    Context called = ctx_.Child();
    const auto connection = Connect([&](const FakeServer::Request&) -> Actions {
      called.Stop();
      return {};
    });
    const std::jthread closer([&] {
      static_cast<void>(called.Sleep(seconds(30)));
      channel_->Close();
    });
    EXPECT_EQ(connection->Call(ctx_, "/s/Get", Framed("")).outcome, Outcome::kBroken);
    EXPECT_FALSE(channel_->Get(ctx_).ok());
  });
}

TEST_P(ConnectionTest, BrokenConnectionIsReplaced) {
  Run([&] {
    const auto connection = Connect([](const FakeServer::Request& request) -> Actions {
      if (request.method == "/s/Break") return {{Kind::kHangUp, 0, ""}};
      return {{Kind::kMessage, 0, "here"}, {Kind::kEnd, 0, ""}};
    });
    EXPECT_EQ(connection->Call(ctx_, "/s/Break", Framed("")).outcome, Outcome::kBroken);
    const auto next = channel_->Get(ctx_);
    ASSERT_TRUE(next.ok());
    EXPECT_NE(*next, connection);
    EXPECT_EQ((*next)->Call(ctx_, "/s/Get", Framed("")).message, "here");
    EXPECT_EQ(server_->connections(), 2);
  });
}

}  // namespace
}  // namespace cox::net::grpc
