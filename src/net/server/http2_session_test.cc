// SPDX-License-Identifier: Apache-2.0
#include "net/server/http2_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/http2_frames.h"
#include "net/testing/session_harness.h"

namespace cox::net {
namespace {

using namespace std::chrono_literals;
using frames::ErrorOf;
using frames::Frame;
using testing::HasSubstr;

constexpr int64_t kNoError = 0, kRefused = 7, kCancel = 8, kCalm = 11;

Response Text(std::string body) {
  Response response;
  response.body.push_back(Bytes(std::move(body)));
  return response;
}

// The DATA bytes of one stream.
std::string BodyOf(std::string_view output, uint32_t stream) {
  std::string body;
  for (const auto& frame : frames::Parse(output)) {
    if (frame.type == frames::kData && frame.stream == stream) body += frame.payload;
  }
  return body;
}

struct CountingSource final : BodySource {
  struct Log {
    int pulls = 0;
    int destroyed = 0;
    std::string ready;
    bool end = false;
  };
  explicit CountingSource(std::shared_ptr<Log> log) : log(std::move(log)) {}
  ~CountingSource() override { ++log->destroyed; }
  State Pull(size_t, std::vector<Bytes>* out) override {
    ++log->pulls;
    if (!log->ready.empty()) out->push_back(Bytes(std::exchange(log->ready, {})));
    return log->end ? State::kEnd : State::kWait;
  }
  std::shared_ptr<Log> log;
};

TEST(Http2Session, RespondsOnTheStreamOfTheRequest) {
  SessionHarness server(true);
  server.on_request = [](const ExchangePtr& exchange) {
    exchange->Send(Text(exchange->request().method + " " + exchange->request().target + " " +
                        std::string(*exchange->request().headers.Get("host"))));
  };
  const std::string output =
      server.Exchange(frames::Hello() + frames::Get(1, "/a?b=c") + frames::Get(3, "/d"));
  EXPECT_EQ(BodyOf(output, 1), "GET /a?b=c test");
  EXPECT_EQ(BodyOf(output, 3), "GET /d test");
  EXPECT_EQ(server.counters.requests, 2U);
  EXPECT_EQ(server.counters.streams, 0U);
}

TEST(Http2Session, DroppedExchangeSends500) {
  SessionHarness server(true);
  server.on_request = [](const ExchangePtr&) {};
  EXPECT_THAT(BodyOf(server.Exchange(frames::Hello() + frames::Get(1)), 1),
              HasSubstr("not answered"));
}

TEST(Http2Session, OversizedBodyIsTruncatedAndStreamReset) {
  SessionHarness server(true, {.max_body_bytes = 1000});
  server.Exchange(frames::Hello() + frames::Post(1));
  server.Exchange(Frame(frames::kData, 0, 1, std::string(600, 'x')));
  EXPECT_TRUE(server.exchanges.empty());
  server.Exchange(Frame(frames::kData, 0, 1, std::string(600, 'x')));
  ASSERT_EQ(server.exchanges.size(), 1U);
  EXPECT_EQ(server.exchanges[0]->request().body.size(), 1001U);
  // The response is sent first, and the reset later.
  server.exchanges[0]->Send(Text("too large"));
  const std::string output = server.Output();
  EXPECT_EQ(BodyOf(output, 1), "too large");
  EXPECT_EQ(ErrorOf(output, frames::kRstStream), -1);
  server.Advance(1s);
  EXPECT_EQ(ErrorOf(server.Output(), frames::kRstStream), kNoError);
}

TEST(Http2Session, BodiesAboveTotalBufferLimitAreRefused) {
  SessionHarness server(true, {.max_buffered_bytes = 100'000, .stream_window = 65'535});
  server.Exchange(frames::Hello() + frames::Post(1) + frames::Post(3));
  std::string output;
  for (int i = 0; i < 8; ++i) {
    output += server.Exchange(Frame(frames::kData, 0, 1, std::string(16'000, 'x')) +
                              Frame(frames::kData, 0, 3, std::string(16'000, 'x')));
  }
  EXPECT_EQ(ErrorOf(output, frames::kRstStream), kRefused);
  EXPECT_TRUE(server.exchanges.empty());
  server.session.reset();
  EXPECT_EQ(server.counters.request_bytes, 0U);
}

// A request that waits for its body, with headers of about `size` bytes.
std::string PostWithHeaders(uint32_t stream, size_t size) {
  return Frame(frames::kHeaders, frames::kEndHeaders, stream,
               frames::RequestFields("POST", "/") + frames::Field("x-a", std::string(size, 'a')));
}

TEST(Http2Session, HeadersCountAgainstTotalBufferLimit) {
  SessionHarness server(true, {.max_buffered_bytes = 30'000});
  server.Exchange(frames::Hello() + PostWithHeaders(1, 12'000) + PostWithHeaders(3, 12'000));
  EXPECT_EQ(ErrorOf(server.Output(), frames::kRstStream), -1);
  EXPECT_GT(server.counters.request_bytes, 24'000U);
  // Small requests are accepted up to twice the limit.
  EXPECT_EQ(ErrorOf(server.Exchange(PostWithHeaders(5, 12'000) + PostWithHeaders(7, 12'000)),
                    frames::kRstStream),
            -1);
  EXPECT_EQ(ErrorOf(server.Exchange(PostWithHeaders(9, 12'000)), frames::kRstStream), kRefused);
  EXPECT_LT(server.counters.request_bytes, 60'000U);
  // The total contains neither refused nor complete requests.
  server.Exchange(Frame(frames::kData, frames::kEndStream, 1, "") +
                  Frame(frames::kData, frames::kEndStream, 3, ""));
  EXPECT_EQ(server.exchanges.size(), 2U);
  EXPECT_LT(server.counters.request_bytes, 30'000U);
  EXPECT_EQ(ErrorOf(server.Exchange(PostWithHeaders(11, 4'000)), frames::kRstStream), -1);
  server.session.reset();
  EXPECT_EQ(server.counters.request_bytes, 0U);
}

TEST(Http2Session, RefusedRequestHasHeaderLimit) {
  SessionHarness server(true, {.max_buffered_bytes = 1'000, .max_header_bytes = 10'000});
  const std::string field = frames::Field("x-a", std::string(4'000, 'a'));
  std::string input =
      frames::Hello() + Frame(frames::kHeaders, 0, 1, frames::RequestFields("POST", "/") + field);
  for (int i = 0; i < 3; ++i) input += Frame(frames::kContinuation, 0, 1, field);
  server.Exchange(input);
  EXPECT_FALSE(server.session->finished()) << "refused, but within twice the limit";
  EXPECT_EQ(server.counters.request_bytes, 0U);
  server.Exchange(Frame(frames::kContinuation, 0, 1, field));
  EXPECT_TRUE(server.session->finished());
}

TEST(Http2Session, RejectedRequestIsAnsweredWithoutItsBody) {
  int checks = 0;
  SessionHarness server(true, {.accepts_body = [&checks](const Request& request) {
                          ++checks;
                          return request.headers.Get("x-a") != "no";
                        }});
  server.on_request = [](const ExchangePtr& exchange) {
    exchange->Send(Text(exchange->request().rejected ? "rejected" : exchange->request().body));
  };
  const auto post = [](uint32_t stream, std::string_view value) {
    return Frame(frames::kHeaders, frames::kEndHeaders, stream,
                 frames::RequestFields("POST", "/") + frames::Field("x-a", value));
  };
  EXPECT_EQ(BodyOf(server.Exchange(frames::Hello() + post(1, "no")), 1), "rejected");
  // The rest of the body is discarded.
  EXPECT_EQ(BodyOf(server.Exchange(Frame(frames::kData, frames::kEndStream, 1, "x")), 1), "");
  EXPECT_EQ(BodyOf(server.Exchange(post(3, "yes")), 3), "");
  EXPECT_EQ(BodyOf(server.Exchange(Frame(frames::kData, frames::kEndStream, 3, "y")), 3), "y");
  EXPECT_EQ(checks, 2);
  // A request that arrives with its body is not checked.
  EXPECT_EQ(
      BodyOf(server.Exchange(post(5, "no") + Frame(frames::kData, frames::kEndStream, 5, "z")), 5),
      "z");
  EXPECT_EQ(checks, 2);
}

TEST(Http2Session, TooManyHeaderBytesAreAnswered431) {
  SessionHarness server(true, {.max_header_bytes = 2000});
  std::string fields = frames::RequestFields("GET", "/");
  for (int i = 0; i < 40; ++i) fields += frames::Field("x-field", std::string(20, 'v'));
  const std::string output =
      server.Exchange(frames::Hello() +
                      Frame(frames::kHeaders, frames::kEndHeaders | frames::kEndStream, 1, fields));
  EXPECT_THAT(BodyOf(output, 1), HasSubstr("431"));
  EXPECT_TRUE(server.exchanges.empty());
}

TEST(Http2Session, RapidResetEndsTheConnection) {
  SessionHarness server(true);
  std::string output = server.Exchange(frames::Hello());
  uint32_t stream = 1;
  for (; stream < 20'001 && !server.session->finished(); stream += 2) {
    output += server.Exchange(frames::Get(stream) +
                              Frame(frames::kRstStream, 0, stream, frames::Number(8)));
  }
  EXPECT_EQ(ErrorOf(output, frames::kGoAway), kCalm);
  EXPECT_LT(stream, 2'000U);
  EXPECT_EQ(server.counters.refused, 1U);
  // Running handlers limit the number of requests that such a peer can start.
  EXPECT_LE(server.exchanges.size(), server.options.max_streams);
}

TEST(Http2Session, PeriodicCancellationOfAllWatchesIsAllowed) {
  SessionHarness server(true);
  server.on_request = [](const ExchangePtr& exchange) {
    exchange->Stream(200, {},
                     std::make_unique<CountingSource>(std::make_shared<CountingSource::Log>()));
  };
  server.Exchange(frames::Hello());
  uint32_t stream = 1;
  for (int round = 0; round < 20; ++round) {
    std::string requests, resets;
    for (int i = 0; i < 100; ++i, stream += 2) {
      requests += frames::Get(stream);
      resets += Frame(frames::kRstStream, 0, stream, frames::Number(8));
    }
    server.Exchange(requests);
    server.Exchange(resets);
    server.Advance(2s);
  }
  EXPECT_FALSE(server.session->finished());
}

struct Flood {
  const char* name;
  std::string frame;
};
class Http2FloodTest : public testing::TestWithParam<Flood> {};

TEST_P(Http2FloodTest, EndsTheConnection) {
  SessionHarness server(true);
  std::string output = server.Exchange(frames::Hello() + frames::Post(1));
  int sent = 0;
  for (; sent < 100'000 && !server.session->finished(); ++sent) {
    output += server.Exchange(GetParam().frame);
  }
  EXPECT_LT(sent, 5'000);
  EXPECT_EQ(ErrorOf(output, frames::kGoAway), kCalm);
}

INSTANTIATE_TEST_SUITE_P(
    Frames, Http2FloodTest,
    testing::Values(Flood{"Ping", Frame(frames::kPing, 0, 0, "12345678")},
                    Flood{"Settings", Frame(frames::kSettings, 0, 0, "")},
                    Flood{"EmptyData", Frame(frames::kData, 0, 1, "")},
                    Flood{"Priority", Frame(frames::kPriority, 0, 1, std::string("\0\0\0\0\1", 5))},
                    Flood{"WindowUpdate", Frame(frames::kWindowUpdate, 0, 0, frames::Number(1))},
                    Flood{"PingAck", Frame(frames::kPing, frames::kAck, 0, "12345678")}),
    [](const auto& flood) { return flood.param.name; });

TEST(Http2Session, UnreadPingRepliesEndTheConnection) {
  SessionHarness server(true);
  for (int i = 0; i < 10'000 && !server.session->finished(); ++i) {
    server.session->Receive(i == 0 ? frames::Hello() : Frame(frames::kPing, 0, 0, "12345678"));
  }
  server.Output();
  EXPECT_TRUE(server.session->finished());
}

TEST(Http2Session, ContinuationFloodEndsTheConnection) {
  SessionHarness server(true);
  server.Exchange(frames::Hello() + Frame(frames::kHeaders, frames::kEndStream, 1,
                                          frames::RequestFields("GET", "/")));
  int sent = 0;
  for (; sent < 10'000 && !server.session->finished(); ++sent) {
    server.Exchange(Frame(frames::kContinuation, 0, 1, frames::Field("x", "y")));
  }
  EXPECT_LT(sent, 200);
  EXPECT_TRUE(server.exchanges.empty());
}

TEST(Http2Session, IncompleteHeadersTimeOut) {
  SessionHarness server(true, {.header_timeout = 1000ms});
  server.Exchange(frames::Hello() + Frame(frames::kHeaders, 0, 1, frames::Field(":method", "G")));
  server.Advance(500ms);
  EXPECT_EQ(ErrorOf(server.Output(), frames::kGoAway), -1);
  server.Advance(600ms);
  EXPECT_EQ(ErrorOf(server.Output(), frames::kGoAway), kCalm);
  EXPECT_TRUE(server.session->finished());
}

TEST(Http2Session, MissingPrefaceTimesOut) {
  SessionHarness server(true, {.header_timeout = 1000ms});
  server.Output();
  server.Advance(1100ms);
  server.Output();
  EXPECT_TRUE(server.session->finished());
}

TEST(Http2Session, IdleConnectionTimesOutUnlessItHasAWatch) {
  SessionHarness server(true, {.idle_timeout = 1000ms});
  const auto log = std::make_shared<CountingSource::Log>();
  server.on_request = [log](const ExchangePtr& exchange) {
    exchange->Stream(200, {}, std::make_unique<CountingSource>(log));
  };
  server.Exchange(frames::Hello() + frames::Get(1));
  server.Advance(1h);
  server.Output();
  EXPECT_FALSE(server.session->finished());
  EXPECT_EQ(log->destroyed, 0);
  server.Exchange(Frame(frames::kRstStream, 0, 1, frames::Number(8)));
  EXPECT_EQ(log->destroyed, 1);
  server.Advance(1100ms);
  EXPECT_EQ(ErrorOf(server.Output(), frames::kGoAway), kNoError);
  EXPECT_TRUE(server.session->finished());
}

TEST(Http2Session, StalledRequestBodyResetsTheStream) {
  SessionHarness server(true, {.body_timeout = 1000ms});
  server.Exchange(frames::Hello() + frames::Post(1));
  server.Advance(1100ms);
  EXPECT_EQ(ErrorOf(server.Output(), frames::kRstStream), kCancel);
}

TEST(Http2Session, StalledReaderResetsTheStream) {
  SessionHarness server(true, {.write_timeout = 1000ms});
  server.on_request = [](const ExchangePtr& exchange) {
    exchange->Send(Text(std::string(200'000, 'x')));
  };
  // The peer's window is 65,535 bytes and never grows.
  EXPECT_EQ(BodyOf(server.Exchange(frames::Hello() + frames::Get(1)), 1).size(), 65'535U);
  server.Advance(900ms);
  EXPECT_EQ(ErrorOf(server.Output(), frames::kRstStream), -1);
  server.Advance(200ms);
  EXPECT_EQ(ErrorOf(server.Output(), frames::kRstStream), kCancel);
}

TEST(Http2Session, SourceIsPulledOnlyWhenWokenAndWindowIsOpen) {
  SessionHarness server(true);
  const auto log = std::make_shared<CountingSource::Log>();
  std::shared_ptr<Waker> waker;
  server.on_request = [&](const ExchangePtr& exchange) {
    waker = exchange->Stream(200, {}, std::make_unique<CountingSource>(log));
  };
  server.Exchange(frames::Hello() + frames::Get(1));
  EXPECT_EQ(log->pulls, 1);
  server.Output();
  EXPECT_EQ(log->pulls, 1) << "nobody woke it";

  log->ready = "one";
  for (int i = 0; i < 100; ++i) waker->Wake();
  EXPECT_EQ(BodyOf(server.Output(), 1), "one");
  EXPECT_LE(log->pulls, 3) << "a hundred wakes are one";

  // Fill the window; a woken source is not pulled then.
  log->ready = std::string(65'532, 'x');
  waker->Wake();
  EXPECT_EQ(BodyOf(server.Output(), 1).size(), 65'532U);
  const int pulls = log->pulls;
  log->ready = "later";
  waker->Wake();
  EXPECT_EQ(BodyOf(server.Output(), 1), "");
  EXPECT_EQ(log->pulls, pulls);
  EXPECT_EQ(BodyOf(server.Exchange(Frame(frames::kWindowUpdate, 0, 0, frames::Number(100)) +
                                   Frame(frames::kWindowUpdate, 0, 1, frames::Number(100))),
                   1),
            "later");

  log->end = true;
  waker->Wake();
  server.Output();
  EXPECT_EQ(log->destroyed, 1);
  waker->Wake();  // no effect
  server.Output();
}

TEST(Http2Session, ResetOrDisconnectStopsTheContext) {
  SessionHarness server(true);
  server.Exchange(frames::Hello() + frames::Get(1) + frames::Get(3));
  ASSERT_EQ(server.exchanges.size(), 2U);
  server.Exchange(Frame(frames::kRstStream, 0, 1, frames::Number(8)));
  EXPECT_TRUE(server.exchanges[0]->context().Done());
  EXPECT_FALSE(server.exchanges[1]->context().Done());
  server.exchanges[0]->Send(Text("too late"));
  EXPECT_EQ(BodyOf(server.Output(), 1), "");
  server.session.reset();
  EXPECT_TRUE(server.exchanges[1]->context().Done());
}

TEST(Http2Session, DrainSendsTwoGoAwaysAndFinishesRequests) {
  SessionHarness server(true);
  server.Exchange(frames::Hello() + frames::Get(1));
  server.session->Drain();
  std::string output = server.Output();
  const auto first = frames::Parse(output);
  ASSERT_EQ(ErrorOf(output, frames::kGoAway), kNoError);
  ASSERT_EQ(first.front().type, frames::kGoAway);
  EXPECT_EQ(frames::ReadNumber(first.front().payload.substr(0, 4)), 0x7fffffffU);
  // A request sent before the GOAWAY arrived is still served.
  server.Exchange(frames::Get(3));
  EXPECT_EQ(server.exchanges.size(), 2U);
  std::string ping;
  for (const auto& frame : first) {
    if (frame.type == frames::kPing) ping = frame.payload;
  }
  output = server.Exchange(Frame(frames::kPing, frames::kAck, 0, ping));
  ASSERT_EQ(ErrorOf(output, frames::kGoAway), kNoError);
  EXPECT_EQ(frames::ReadNumber(frames::Parse(output).front().payload.substr(0, 4)), 3U);
  EXPECT_FALSE(server.session->finished());
  for (const auto& exchange : server.exchanges) exchange->Send(Text("done"));
  output = server.Output();
  EXPECT_EQ(BodyOf(output, 1), "done");
  EXPECT_EQ(BodyOf(output, 3), "done");
  EXPECT_TRUE(server.session->finished());
}

TEST(Http2Session, ConnectionCloseInResponseDrains) {
  SessionHarness server(true);
  server.on_request = [](const ExchangePtr& exchange) {
    Response response = Text("who are you?");
    response.status = 401;
    response.headers.Add("connection", "close");
    exchange->Send(std::move(response));
  };
  const std::string output = server.Exchange(frames::Hello() + frames::Get(1));
  EXPECT_EQ(BodyOf(output, 1), "who are you?");
  EXPECT_EQ(ErrorOf(output, frames::kGoAway), kNoError);
  server.Advance(2s);
  server.Output();
  EXPECT_TRUE(server.session->finished());
}

TEST(Http2Session, StopStreamsPullsSourcesOneLastTime) {
  SessionHarness server(true);
  const auto log = std::make_shared<CountingSource::Log>();
  server.on_request = [&](const ExchangePtr& exchange) {
    exchange->Stream(200, {}, std::make_unique<CountingSource>(log));
  };
  server.Exchange(frames::Hello() + frames::Get(1));
  log->ready = "bye";
  server.session->StopStreams();
  const std::string output = server.Output();
  EXPECT_EQ(BodyOf(output, 1), "bye");
  EXPECT_EQ(frames::Parse(output).back().flags & frames::kEndStream, frames::kEndStream);
  EXPECT_EQ(log->destroyed, 1);
}

}  // namespace
}  // namespace cox::net
