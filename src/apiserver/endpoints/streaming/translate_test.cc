// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/translate.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "base/clock.h"
#include "base/scope.h"
#include "net/spdy/session.h"

namespace cox::apiserver {
namespace {

using testing::HasSubstr;

// The server side of a kubelet connection: runs `cat` and reports its exit status.
class Cat final : public net::spdy::Events {
 public:
  Cat(const Context& ctx, net::ByteStream& wire)
      : ctx_(ctx), session_(wire, net::spdy::Session::Role::kServer) {}
  Status Run() { return session_.Run(ctx_, *this); }

  Status OnStream(uint32_t stream, const net::spdy::HeaderList& headers) override {
    streams_[headers.at(0).second] = stream;
    types_[stream] = headers.at(0).second;
    opened += (opened.empty() ? "" : " ") + headers.at(0).second;
    return session_.Reply(ctx_, stream);
  }
  Status OnData(uint32_t stream, std::string_view bytes) override {
    if (types_[stream] == "resize") {
      resized += bytes;
      return {};
    }
    return session_.Send(ctx_, streams_["stdout"], bytes);
  }
  Status OnFinished(uint32_t stream) override {
    if (types_[stream] != "stdin") return {};
    if (streams_.contains("stderr")) {
      COX_RETURN_IF_ERROR(session_.Send(ctx_, streams_["stderr"], "warned"));
      COX_RETURN_IF_ERROR(session_.Finish(ctx_, streams_["stderr"]));
    }
    COX_RETURN_IF_ERROR(session_.Finish(ctx_, streams_["stdout"]));
    COX_RETURN_IF_ERROR(session_.Send(ctx_, streams_["error"], R"({"status":"Success"})"));
    return session_.Finish(ctx_, streams_["error"]);
  }
  Status OnReset(uint32_t) override { return {}; }

  std::string opened, resized;

 private:
  const Context& ctx_;
  net::spdy::Session session_;
  std::map<std::string, uint32_t> streams_;
  std::map<uint32_t, std::string> types_;
};

class TranslateTest : public testing::Test {
 protected:
  void Start(StreamOptions options) {
    ASSERT_TRUE(scope_
                    .Go("translate",
                        [this, options](Context& ctx) {
                          result_ = TranslateStreams(ctx, *near_, *node_, options);
                          node_.reset();
                          if (!result_.ok()) SendFailure(ctx, *near_, result_);
                        })
                    .ok());
  }
  void StartCat() {
    ASSERT_TRUE(scope_.Go("cat", [this](Context&) { static_cast<void>(cat_.Run()); }).ok());
  }
  Status Send(uint8_t channel, std::string_view bytes) {
    return client_->Send(ctx_, std::string(1, static_cast<char>(channel)).append(bytes));
  }
  // The data of each channel, until the WebSocket is closed.
  std::map<int, std::string> ReadAll() {
    std::map<int, std::string> got;
    while (true) {
      auto message = client_->Receive(ctx_);
      if (!message.ok() || !*message) return got;
      got[static_cast<uint8_t>((*message)->view()[0])] += (*message)->view().substr(1);
    }
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(30));
  std::pair<std::unique_ptr<net::WebSocket>, std::unique_ptr<net::WebSocket>> sockets_ =
      net::MakeWebSocketPair("v5.channel.k8s.io");
  std::pair<std::unique_ptr<net::ByteStream>, std::unique_ptr<net::ByteStream>> wires_ =
      net::MakeByteStreamPair();
  std::unique_ptr<net::WebSocket>&client_ = sockets_.first, &near_ = sockets_.second;
  std::unique_ptr<net::ByteStream>&node_ = wires_.first, &far_ = wires_.second;
  Cat cat_{ctx_, *far_};
  Status result_;
  Scope scope_{ctx_, "test"};
};

TEST_F(TranslateTest, CopiesAllStreamsAndClosesStdin) {
  Start({.in = true, .out = true, .err = true});
  StartCat();
  const std::string much(1'000'000, 'x');
  ASSERT_TRUE(scope_
                  .Go("writer",
                      [&](Context&) {
                        EXPECT_TRUE(Send(0, much).ok());
                        EXPECT_TRUE(Send(255, std::string(1, '\0')).ok());
                      })
                  .ok());
  auto got = ReadAll();
  EXPECT_EQ(got[1], much);
  EXPECT_EQ(got[2], "warned");
  EXPECT_EQ(got[3], R"({"status":"Success"})");
  EXPECT_EQ(client_->closed()->code, net::close_code::kNormal);
  far_->EndWriting();
  scope_.Wait();
  EXPECT_EQ(result_, Status());
  EXPECT_EQ(cat_.opened, "error stdin stdout stderr");
}

TEST_F(TranslateTest, TtyHasResizeStreamAndNoStderr) {
  Start({.in = true, .out = true, .err = true, .tty = true});
  StartCat();
  EXPECT_TRUE(Send(4, R"({"Width":80,"Height":24})").ok());
  EXPECT_TRUE(Send(0, "hello").ok());
  EXPECT_TRUE(Send(7, "of no channel").ok());
  EXPECT_TRUE(Send(255, "").ok());
  EXPECT_TRUE(Send(255, std::string(1, '\0')).ok());
  EXPECT_EQ(ReadAll()[1], "hello");
  far_->EndWriting();
  scope_.Wait();
  EXPECT_EQ(cat_.opened, "error stdin stdout resize");
  EXPECT_EQ(cat_.resized, R"({"Width":80,"Height":24})");
}

TEST_F(TranslateTest, ResetAfterFinishDoesNotEndOtherStreams) {
  Start({.out = true});
  // Streams 1 and 3 are "error" and "stdout".
  std::string frames;
  net::spdy::AppendData(3, "out", /*fin=*/true, &frames);
  net::spdy::AppendRstStream(3, 5, &frames);
  net::spdy::AppendData(1, R"({"status":"Failure"})", /*fin=*/true, &frames);
  ASSERT_TRUE(far_->Write(ctx_, frames).ok());
  auto got = ReadAll();
  EXPECT_EQ(got[1], "out");
  EXPECT_EQ(got[3], R"({"status":"Failure"})");
  far_->EndWriting();
  scope_.Wait();
  EXPECT_EQ(result_, Status());
}

TEST_F(TranslateTest, LostNodeConnectionIsReportedAsFailure) {
  Start({.out = true});
  far_->EndWriting();
  auto got = ReadAll();
  EXPECT_THAT(got[3], HasSubstr("the connection to the node ended before the process did"));
  EXPECT_THAT(got[3], HasSubstr("\"Failure\""));
  scope_.Wait();
}

TEST_F(TranslateTest, ClientDisconnectClosesTheNodeConnection) {
  Start({.in = true, .out = true});
  EXPECT_TRUE(Send(0, "x").ok());
  client_.reset();
  EXPECT_FALSE(cat_.Run().ok());
  scope_.Wait();
  EXPECT_EQ(result_, Status());
}

TEST_F(TranslateTest, TunnelCopiesBothWaysAndEndsWithTheNode) {
  ASSERT_TRUE(
      scope_.Go("tunnel", [this](Context& ctx) { result_ = TunnelBytes(ctx, *near_, *node_); })
          .ok());
  ASSERT_TRUE(client_->Send(ctx_, "there").ok());
  EXPECT_EQ(far_->Read(ctx_)->view(), "there");
  ASSERT_TRUE(far_->Write(ctx_, "back").ok());
  EXPECT_EQ((*client_->Receive(ctx_))->view(), "back");
  far_->EndWriting();
  EXPECT_FALSE(*client_->Receive(ctx_));
  scope_.Wait();
  EXPECT_EQ(result_, Status());
}

}  // namespace
}  // namespace cox::apiserver
