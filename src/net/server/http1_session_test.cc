// SPDX-License-Identifier: Apache-2.0
#include "net/server/http1_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/session_harness.h"

namespace cox::net {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void Echo(const ExchangePtr& exchange) {
  Response response;
  response.body.push_back(Bytes(exchange->request().method + " " + exchange->request().target +
                                " [" + exchange->request().body + "]"));
  exchange->Send(std::move(response));
}

struct Case {
  const char* name;
  std::string request;
  std::string begins;
  std::string contains;
  bool closes;
};
class Http1RequestTest : public testing::TestWithParam<Case> {};

TEST_P(Http1RequestTest, IsAnswered) {
  for (const size_t step : {size_t{1}, GetParam().request.size()}) {
    SessionHarness server(false, {.max_header_bytes = 1000});
    server.on_request = Echo;
    std::string output;
    for (size_t at = 0; at < GetParam().request.size(); at += step) {
      output += server.Exchange(GetParam().request.substr(at, step));
    }
    EXPECT_THAT(output, StartsWith(GetParam().begins));
    EXPECT_THAT(output, HasSubstr(GetParam().contains));
    EXPECT_EQ(server.session->finished(), GetParam().closes) << output;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Requests, Http1RequestTest,
    testing::Values(
        Case{"Get", "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n", "GET /a?b []",
             false},
        Case{"Post", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
             "HTTP/1.1 200 OK\r\n", "POST / [abc]", false},
        Case{"Chunked",
             "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
             "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
             "HTTP/1.1 200 OK\r\n", "POST / [abcde]", false},
        Case{"Close", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
             "HTTP/1.1 200 OK\r\n", "connection: close\r\n", true},
        Case{"OldVersion", "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "GET / []", true},
        Case{"Expect",
             "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nz",
             "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK", "POST / [z]", false},
        Case{"NoHost", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request", "Host header", true},
        Case{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400 Bad Request",
             "", true},
        Case{"Garbage", "\x16\x03\x01 what\r\n\r\n", "HTTP/1.1 400 Bad Request", "", true},
        Case{"HugeHeader", "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(2000, 'a') + "\r\n\r\n",
             "HTTP/1.1 431 Request Header Fields Too Large", "", true},
        Case{"TwoLengths",
             "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
             "HTTP/1.1 400 Bad Request", "", true},
        Case{"LengthAndChunks",
             "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: "
             "chunked\r\n\r\n0\r\n\r\n",
             "HTTP/1.1 400 Bad Request", "", true},
        Case{"BlankBeforeColon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "HTTP/1.1 400 Bad Request",
             "", true}),
    [](const auto& one) { return one.param.name; });

TEST(Http1Session, PipelinedRequestsAreAnsweredInOrder) {
  SessionHarness server(false);
  server.on_request = Echo;
  const std::string output = server.Exchange(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\ncontent-length: "
      "1\r\n\r\naGET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_LT(output.find("GET /1"), output.find("POST /2 [a]"));
  EXPECT_LT(output.find("POST /2 [a]"), output.find("GET /3"));
  EXPECT_EQ(server.counters.requests, 3U);
}

TEST(Http1Session, PipelinedInputIsLimited) {
  SessionHarness server(false);
  server.Exchange("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(server.session->wants_input());
  server.Exchange(std::string(70'000, 'x'));
  EXPECT_FALSE(server.session->wants_input());
}

TEST(Http1Session, HeadsCountAgainstTotalBufferLimit) {
  ServerOptions options{.max_buffered_bytes = 30'000};
  for (const size_t step : {size_t{40'000}, size_t{1'000}}) {
    SessionHarness server(false, options);
    const std::string head =
        "POST / HTTP/1.1\r\nHost: x\r\nX: " + std::string(40'000, 'a') + "\r\n";
    std::string output;
    for (size_t at = 0; at < head.size() && output.empty(); at += step) {
      output += server.Exchange(head.substr(at, step));
    }
    EXPECT_THAT(output, StartsWith("HTTP/1.1 503 "));
    EXPECT_EQ(server.counters.request_bytes, 0U);
  }
  SessionHarness server(false, options);
  server.Exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nX: " +
                  std::string(20'000, 'a') + "\r\n\r\n");
  EXPECT_GT(server.counters.request_bytes, 20'000U);
  server.session.reset();
  EXPECT_EQ(server.counters.request_bytes, 0U);
}

TEST(Http1Session, EndlessLinesInChunkedBodiesAreRejected) {
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* begin : {"5;", "0\r\nX: ", "0\r\nX: y\r\n"}) {
    SessionHarness server(false, {.max_header_bytes = 1000});
    std::string output = server.Exchange(chunked + begin);
    for (int i = 0; i < 100 && output.empty(); ++i) {
      output += server.Exchange(std::string(100, 'a'));
    }
    EXPECT_THAT(output, StartsWith("HTTP/1.1 4")) << begin;
    EXPECT_TRUE(server.session->finished());
  }
}

TEST(Http1Session, RejectedRequestIsAnsweredWithoutItsBody) {
  SessionHarness server(
      false, {.accepts_body = [](const Request& request) { return request.target != "/no"; }});
  server.on_request = [](const ExchangePtr& exchange) {
    if (!exchange->request().rejected) return Echo(exchange);
    exchange->Send({.status = 401});
  };
  const auto head = [](const std::string& target) {
    return "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n";
  };
  EXPECT_EQ(server.Exchange(head("/yes") + "a"), "");
  EXPECT_THAT(server.Exchange("bc"), HasSubstr("POST /yes [abc]"));
  EXPECT_THAT(server.Exchange(head("/no") + "abc"), HasSubstr("POST /no [abc]"));
  EXPECT_THAT(server.Exchange(head("/no") + "a"),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("connection: close")));
  EXPECT_TRUE(server.session->finished());
}

TEST(Http1Session, OversizedBodyIsTruncatedAndConnectionCloses) {
  SessionHarness server(false, {.max_body_bytes = 10});
  server.on_request = Echo;
  const std::string output = server.Exchange(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n" + std::string(20, 'a'));
  EXPECT_THAT(output, HasSubstr("[" + std::string(11, 'a') + "]"));
  EXPECT_THAT(output, HasSubstr("connection: close"));
  EXPECT_TRUE(server.session->finished());
}

struct Pieces final : BodySource {
  State Pull(size_t, std::vector<Bytes>* out) override {
    if (at == pieces.size()) return wait ? State::kWait : State::kEnd;
    out->push_back(Bytes(pieces[at++]));
    return State::kMore;
  }
  std::vector<std::string> pieces;
  bool wait = false;
  size_t at = 0;
};

TEST(Http1Session, StreamsInChunks) {
  SessionHarness server(false);
  server.on_request = [](const ExchangePtr& exchange) {
    auto source = std::make_unique<Pieces>();
    source->pieces = {"one", std::string(20, 'x')};
    exchange->Stream(200, {{"content-type", "text/plain"}}, std::move(source));
  };
  const std::string output = server.Exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(output, AllOf(HasSubstr("transfer-encoding: chunked"), Not(HasSubstr("length")),
                            EndsWith("\r\n\r\n3\r\none\r\n14\r\n" + std::string(20, 'x') +
                                     "\r\n0\r\n\r\n")));
  EXPECT_FALSE(server.session->finished());
  // Without chunks, the end of the connection ends the body.
  EXPECT_THAT(server.Exchange("GET / HTTP/1.0\r\n\r\n"), EndsWith("one" + std::string(20, 'x')));
  EXPECT_TRUE(server.session->finished());
}

TEST(Http1Session, HeadHasLengthButNoBody) {
  SessionHarness server(false);
  server.on_request = Echo;
  const std::string output = server.Exchange("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(output, AllOf(HasSubstr("content-length: 10\r\n"), EndsWith("\r\n\r\n")));
}

TEST(Http1Session, ResponseHeadersCannotInjectFields) {
  SessionHarness server(false);
  server.on_request = [](const ExchangePtr& exchange) {
    Response response;
    response.headers.Add("warning", "a\r\nset-cookie: b");
    exchange->Send(std::move(response));
  };
  EXPECT_THAT(server.Exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
              HasSubstr("warning: a  set-cookie: b\r\n"));
}

TEST(Http1Session, TimeoutsCloseTheConnection) {
  const ServerOptions options{
      .header_timeout = 1000ms, .idle_timeout = 5000ms, .body_timeout = 2000ms};
  const std::pair<std::string, Clock::Duration> cases[] = {
      {"", 5s},
      {"GET / HT", 1s},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nabc", 2s},
  };
  for (const auto& [bytes, limit] : cases) {
    SessionHarness server(false, options);
    if (!bytes.empty()) server.Exchange(bytes);
    server.Advance(limit - 1ms);
    EXPECT_FALSE(server.session->finished()) << bytes;
    server.Advance(2ms);
    EXPECT_TRUE(server.session->finished()) << bytes;
  }
}

TEST(Http1Session, TricklingHeadersDoesNotExtendTheTimeout) {
  SessionHarness server(false, {.header_timeout = 1000ms});
  for (int i = 0; i < 9; ++i) {
    server.Exchange("G");
    server.Advance(150ms);
  }
  EXPECT_TRUE(server.session->finished());
}

TEST(Http1Session, DrainClosesIdleAtOnceAndBusyAfterResponse) {
  SessionHarness idle(false);
  idle.session->Drain();
  EXPECT_TRUE(idle.session->finished());

  SessionHarness busy(false);
  busy.Exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  busy.session->Drain();
  EXPECT_FALSE(busy.session->finished());
  busy.exchanges[0]->Send({});
  EXPECT_THAT(busy.Output(), HasSubstr("connection: close"));
  EXPECT_TRUE(busy.session->finished());
}

}  // namespace
}  // namespace cox::net
