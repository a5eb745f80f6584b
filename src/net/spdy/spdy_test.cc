// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/scope.h"
#include "net/spdy/session.h"

namespace cox::net::spdy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Parses the bytes in pieces of `step` and returns the frames: "syn 1", "data 1 abc fin". Pieces of
// one data frame are joined.
std::vector<std::string> Parsed(std::string_view bytes, size_t step) {
  Parser parser;
  std::vector<std::string> seen;
  std::string data;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    Frame frame;
    for (auto outcome = parser.Parse(&piece, &frame); outcome != Parser::Outcome::kMore;
         outcome = parser.Parse(&piece, &frame)) {
      if (outcome == Parser::Outcome::kBad) {
        seen.push_back("bad: " + parser.error());
        return seen;
      }
      if (frame.type == FrameType::kData) {
        data += frame.data;
        if (frame.fin) {
          seen.push_back("data " + std::to_string(frame.stream) + " " + data + " fin");
          data.clear();
        }
        continue;
      }
      seen.push_back(std::to_string(static_cast<int>(frame.type)) + " " +
                     std::to_string(frame.stream) + " " + std::to_string(frame.code) +
                     (frame.fin ? " fin " : " ") + frame.block);
    }
  }
  return seen;
}

TEST(SpdyFrames, RoundTrip) {
  std::string bytes;
  AppendSynStream(1, "block", false, &bytes);
  AppendSynReply(1, "back", true, &bytes);
  AppendData(1, "hello", true, &bytes);
  AppendData(3, "", true, &bytes);
  AppendRstStream(5, 3, &bytes);
  AppendPing(7, &bytes);
  AppendGoAway(9, &bytes);
  for (const size_t step : {size_t{1}, size_t{3}, bytes.size()}) {
    EXPECT_THAT(Parsed(bytes, step),
                ElementsAre("1 1 0 block", "2 1 0 fin back", "data 1 hello fin", "data 3  fin",
                            "3 5 3 ", "6 7 0 ", "7 9 0 "));
  }
}

TEST(SpdyFrames, LargeDataIsSplitIntoFrames) {
  std::string bytes;
  AppendData(1, std::string(kMaxDataBytes * 2 + 1, 'x'), true, &bytes);
  EXPECT_EQ(bytes.size(), kMaxDataBytes * 2 + 1 + 3 * 8);
  EXPECT_EQ(Parsed(bytes, 1000).back(),
            "data 1 " + std::string(kMaxDataBytes * 2 + 1, 'x') + " fin");
}

TEST(SpdyFrames, PingHasExpectedBytes) {
  std::string bytes;
  AppendPing(1, &bytes);
  EXPECT_EQ(bytes, std::string("\x80\x03\x00\x06\x00\x00\x00\x04\x00\x00\x00\x01", 12));
}

TEST(SpdyFrames, InvalidFramesAreRejected) {
  EXPECT_THAT(Parsed("HTTP/1.1 200 OK\r\n\r\n", 100).size(), 0u);  // parsed as a long data frame
  EXPECT_THAT(Parsed(std::string("\x80\x02\x00\x06\x00\x00\x00\x04", 8), 100),
              ElementsAre("bad: not SPDY/3.1"));
  EXPECT_THAT(Parsed(std::string("\x80\x03\x00\x01\x00\x02\x00\x00", 8), 100),
              ElementsAre("bad: a control frame that is too large"));
  EXPECT_THAT(Parsed(std::string("\x80\x03\x00\x06\x00\x00\x00\x00", 8), 100),
              ElementsAre("bad: a control frame of a wrong size"));
  // A frame of an unknown type is skipped.
  std::string bytes("\x80\x03\x00\x0b\x00\x00\x00\x01z", 9);
  AppendPing(2, &bytes);
  EXPECT_THAT(Parsed(bytes, 5), ElementsAre("6 2 0 "));
}

TEST(SpdyHeaders, CompressionStateIsSharedByTheConnection) {
  HeaderPacker packer;
  HeaderUnpacker unpacker;
  const HeaderList headers = {{"streamtype", "stdin"}, {"port", "8080"}};
  const std::string first = packer.Pack(headers);
  // zlib's header contains the checksum of the dictionary.
  EXPECT_EQ(first.substr(2, 4), "\xe3\xc6\xa7\xc2");
  const std::string second = packer.Pack(headers);
  EXPECT_LT(second.size(), first.size());
  for (const std::string& block : {first, second}) {
    auto read = unpacker.Unpack(block);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_THAT(*read, ElementsAre(Pair("streamtype", "stdin"), Pair("port", "8080")));
  }
}

TEST(SpdyHeaders, UncompressedSizeIsLimited) {
  HeaderPacker packer;
  HeaderUnpacker unpacker;
  const auto bomb = unpacker.Unpack(packer.Pack({{"a", std::string(10'000'000, 'x')}}));
  EXPECT_THAT(bomb.status().message(), HasSubstr("too large"));
  EXPECT_FALSE(unpacker.Unpack(packer.Pack({})).ok()) << "its state is lost";
  HeaderUnpacker other;
  EXPECT_FALSE(other.Unpack("not zlib at all").ok());
}

// Records events; replies to streams and echoes their data like a server.
class Echo final : public Events {
 public:
  explicit Echo(Session& session, const Context& ctx) : session_(session), ctx_(ctx) {}
  Status OnStream(uint32_t stream, const HeaderList& headers) override {
    Note("open " + std::to_string(stream) + " " + headers.at(0).second);
    return session_.Reply(ctx_, stream);
  }
  Status OnData(uint32_t stream, std::string_view bytes) override {
    return session_.Send(ctx_, stream, bytes);
  }
  Status OnFinished(uint32_t stream) override {
    Note("finished " + std::to_string(stream));
    return session_.Finish(ctx_, stream);
  }
  Status OnReset(uint32_t stream) override {
    Note("reset " + std::to_string(stream));
    return {};
  }
  void Note(std::string text) { notes.push_back(std::move(text)); }

  std::vector<std::string> notes;

 private:
  Session& session_;
  const Context& ctx_;
};

class Collect final : public Events {
 public:
  Status OnStream(uint32_t, const HeaderList&) override { return Status::BadRequest("no"); }
  Status OnData(uint32_t stream, std::string_view bytes) override {
    got[stream] += bytes;
    return {};
  }
  Status OnFinished(uint32_t stream) override {
    got[stream] += "<end>";
    return left-- == 1 ? Status::Expired("all is here") : Status();
  }
  Status OnReset(uint32_t stream) override {
    got[stream] += "<reset>";
    return {};
  }
  std::map<uint32_t, std::string> got;
  int left = 2;
};

TEST(SpdySession, CarriesStreamsInBothDirections) {
  RealClock clock;
  const Context ctx = Context(clock).WithTimeout(std::chrono::seconds(30));
  auto [near, far] = MakeByteStreamPair();
  Session client(*near, Session::Role::kClient);
  Session server(*far, Session::Role::kServer);
  Echo echo(server, ctx);
  Scope scope(ctx, "test");
  ASSERT_TRUE(
      scope.Go("server", [&](Context& work) { EXPECT_TRUE(server.Run(work, echo).ok()); }).ok());
  const auto one = client.Open(ctx, {{"streamtype", "stdin"}});
  const auto two = client.Open(ctx, {{"streamtype", "error"}});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, 1u);
  EXPECT_EQ(*two, 3u);
  const std::string much(3'000'000, 'x');
  ASSERT_TRUE(scope
                  .Go("writer",
                      [&](Context& work) {
                        EXPECT_TRUE(client.Send(work, 1, much).ok());
                        EXPECT_TRUE(client.Finish(work, 1).ok());
                        EXPECT_TRUE(client.Send(work, 1, "after the end").ok());
                        EXPECT_TRUE(client.Send(work, 3, "short").ok());
                        EXPECT_TRUE(client.Finish(work, 3).ok());
                      })
                  .ok());
  Collect collect;
  EXPECT_TRUE(client.Run(ctx, collect).Is(Reason::kExpired));
  EXPECT_EQ(collect.got[1], much + "<end>");
  EXPECT_EQ(collect.got[3], "short<end>");
  near->EndWriting();
  scope.Wait();
  scope.Stop();
  EXPECT_THAT(echo.notes, ElementsAre("open 1 stdin", "open 3 error", "finished 1", "finished 3"));
}

TEST(SpdySession, AnswersPingsAndResetsInvalidStreams) {
  RealClock clock;
  const Context ctx = Context(clock).WithTimeout(std::chrono::seconds(30));
  auto [near, far] = MakeByteStreamPair();
  Session server(*far, Session::Role::kServer);
  Echo echo(server, ctx);
  HeaderPacker packer;
  std::string bytes;
  AppendPing(1, &bytes);
  AppendPing(2, &bytes);  // a server's ping number: an unsolicited reply
  AppendSynStream(2, packer.Pack({{"a", "b"}}), false, &bytes);
  AppendData(9, "nobody's", true, &bytes);
  ASSERT_TRUE(near->Write(ctx, bytes).ok());
  near->EndWriting();
  EXPECT_TRUE(server.Run(ctx, echo).ok());
  far->EndWriting();
  std::string answer;
  for (auto piece = near->Read(ctx); piece.ok() && !piece->empty(); piece = near->Read(ctx)) {
    answer += piece->view();
  }
  EXPECT_THAT(Parsed(answer, 100), ElementsAre("6 1 0 ", "3 2 1 ", "3 9 2 "));
  EXPECT_TRUE(echo.notes.empty());
}

TEST(SpdySession, FailsWithPeerOfAnotherVersion) {
  RealClock clock;
  const Context ctx = Context(clock).WithTimeout(std::chrono::seconds(30));
  auto [near, far] = MakeByteStreamPair();
  Session server(*far, Session::Role::kServer);
  Echo echo(server, ctx);
  ASSERT_TRUE(near->Write(ctx, std::string("\x80\x02\x00\x06\x00\x00\x00\x04", 8)).ok());
  EXPECT_TRUE(server.Run(ctx, echo).Is(Reason::kBadRequest));
}

}  // namespace
}  // namespace cox::net::spdy
