// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/frame.h"

#include <gtest/gtest.h>

#include <vector>

#include "net/websocket.h"

namespace cox::net {
namespace {

using Outcome = FrameParser::Outcome;
constexpr std::array<uint8_t, 4> kMask{0x37, 0xfa, 0x21, 0x3d};

std::string Raw(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out.push_back(static_cast<char>(byte));
  return out;
}

// All outcomes of `bytes`, parsed in pieces of `step`, one line each.
std::vector<std::string> Read(bool masked, std::string_view bytes, size_t step,
                              size_t max_message = 1000) {
  FrameParser parser(masked, max_message);
  std::vector<std::string> seen;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    for (bool more = true; more;) {
      switch (parser.Parse(&piece)) {
        case Outcome::kMore:
          EXPECT_TRUE(piece.empty());
          more = false;
          break;
        case Outcome::kMessage:
          seen.push_back("message " + parser.payload);
          break;
        case Outcome::kPing:
          seen.push_back("ping " + parser.payload);
          break;
        case Outcome::kPong:
          seen.push_back("pong " + parser.payload);
          break;
        case Outcome::kClose:
          seen.push_back("close " + std::to_string(parser.code) + " " + parser.reason);
          break;
        case Outcome::kBad:
          seen.push_back("bad " + std::to_string(parser.code) + " " + parser.reason);
          return seen;
      }
    }
  }
  return seen;
}

TEST(FrameParser, ParsesTheExamplesOfRfc6455) {
  EXPECT_EQ(Read(false, Raw({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}), 100),
            std::vector<std::string>{"message Hello"});
  EXPECT_EQ(
      Read(true, Raw({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}), 100),
      std::vector<std::string>{"message Hello"});
  EXPECT_EQ(Read(false, Raw({0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f}), 100),
            std::vector<std::string>{"message Hello"});
}

TEST(FrameParser, ParsesAnyFragmentationOfTheInput) {
  for (const bool masked : {false, true}) {
    const auto* mask = masked ? &kMask : nullptr;
    std::string bytes;
    AppendFrame(Opcode::kBinary, "one", mask, &bytes);
    AppendFrame(Opcode::kPing, "there?", mask, &bytes);
    AppendFrame(Opcode::kBinary, "", mask, &bytes);
    std::string first;
    AppendFrame(Opcode::kBinary, "fra", mask, &first);
    first[0] = static_cast<char>(first[0] & 0x7f);  // clear FIN
    bytes += first;
    AppendFrame(Opcode::kPong, "within", mask, &bytes);
    AppendFrame(Opcode::kContinuation, "gments", mask, &bytes);
    AppendFrame(Opcode::kText, std::string(300, 'x'), mask, &bytes);
    AppendFrame(Opcode::kClose, ClosePayload(1000, "bye"), mask, &bytes);
    const std::vector<std::string> expected = {
        "message one",   "ping there?",       "message ",
        "pong within",   "message fragments", "message " + std::string(300, 'x'),
        "close 1000 bye"};
    for (size_t step = 1; step <= bytes.size(); ++step) {
      ASSERT_EQ(Read(masked, bytes, step), expected) << "masked " << masked << ", step " << step;
    }
  }
}

TEST(FrameParser, ParsesOutputOfAppendFrameForAllLengthEncodings) {
  for (const size_t size : {0, 1, 125, 126, 127, 65'535, 65'536, 100'000}) {
    const std::string payload(size, 'p');
    for (const bool masked : {false, true}) {
      std::string bytes;
      AppendFrame(Opcode::kBinary, payload, masked ? &kMask : nullptr, &bytes);
      EXPECT_EQ(Read(masked, bytes, 1000, 100'000), std::vector<std::string>{"message " + payload});
    }
  }
}

TEST(FrameParser, ReturnsTheCloseCodeOfEachViolation) {
  const struct {
    const char* what;
    bool masked;
    std::string bytes;
    std::string expected;
  } cases[] = {
      {"reserved bit", false, Raw({0xc2, 0x00}), "bad 1002 reserved bits set"},
      {"opcode 3", false, Raw({0x83, 0x00}), "bad 1002 unknown opcode"},
      {"opcode 11", false, Raw({0x8b, 0x00}), "bad 1002 unknown opcode"},
      {"mask of a server", false, Raw({0x82, 0x80, 0, 0, 0, 0}),
       "bad 1002 frame of a server with mask"},
      {"client without mask", true, Raw({0x82, 0x00}), "bad 1002 frame of a client without mask"},
      {"ping in pieces", false, Raw({0x09, 0x00}), "bad 1002 control frame in pieces"},
      {"ping of 126 bytes", false, Raw({0x89, 0x7e, 0, 126}), "bad 1002 control frame too long"},
      {"continuation of nothing", false, Raw({0x80, 0x00}), "bad 1002 continuation of nothing"},
      {"message within a message", false, Raw({0x02, 0x00, 0x82, 0x00}),
       "bad 1002 message within a message"},
      {"5 in two bytes", false, Raw({0x82, 0x7e, 0, 5}),
       "bad 1002 length not in its shortest form"},
      {"5 in eight bytes", false, Raw({0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0, 5}),
       "bad 1002 length not in its shortest form"},
      {"negative length", false, Raw({0x82, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0}),
       "bad 1002 length not in its shortest form"},
      {"too big", false, Raw({0x82, 0x7e, 0x03, 0xe9}), "bad 1009 message too big"},
      {"huge", false, Raw({0x82, 0x7f, 0x7f, 255, 255, 255, 255, 255, 255, 255}),
       "bad 1009 message too big"},
      {"half a code", false, Raw({0x88, 0x01, 0x03}), "bad 1002 half a close code"},
      {"code 1005", false, Raw({0x88, 0x02, 0x03, 0xed}), "bad 1002 bad close code"},
      {"code 999", false, Raw({0x88, 0x02, 0x03, 0xe7}), "bad 1002 bad close code"},
      {"code 5000", false, Raw({0x88, 0x02, 0x13, 0x88}), "bad 1002 bad close code"},
      {"reason not UTF-8", false, Raw({0x88, 0x03, 0x03, 0xe8, 0xff}),
       "bad 1007 close reason that is not UTF-8"},
      {"text not UTF-8", false, Raw({0x81, 0x02, 0xc3, 0x28}), "bad 1007 text that is not UTF-8"},
      {"close without code", false, Raw({0x88, 0x00}), "close 1005 "},
      {"close 4999", false, Raw({0x88, 0x02, 0x13, 0x87}), "close 4999 "},
  };
  for (const auto& test : cases) {
    const auto seen = Read(test.masked, test.bytes, 1);
    ASSERT_FALSE(seen.empty()) << test.what;
    EXPECT_EQ(seen.back(), test.expected) << test.what;
  }
}

TEST(FrameParser, MessageLimitAppliesToSumOfFragments) {
  std::string bytes;
  std::string piece;
  AppendFrame(Opcode::kBinary, std::string(600, 'a'), nullptr, &piece);
  piece[0] = static_cast<char>(piece[0] & 0x7f);
  bytes = piece;
  AppendFrame(Opcode::kContinuation, std::string(401, 'b'), nullptr, &bytes);
  EXPECT_EQ(Read(false, bytes, 100).back(), "bad 1009 message too big");
  bytes = piece;
  AppendFrame(Opcode::kContinuation, std::string(400, 'b'), nullptr, &bytes);
  EXPECT_EQ(Read(false, bytes, 100).back().substr(0, 9), "message a");
}

TEST(ClosePayload, TruncatesLongReasonsAtCharacterBoundary) {
  std::string reason(122, 'r');
  reason += "\xc3\xa4";
  const std::string payload = ClosePayload(1011, reason);
  EXPECT_EQ(payload.substr(2), std::string(122, 'r'));
  EXPECT_TRUE(ClosePayload(close_code::kNone, "x").empty());
}

}  // namespace
}  // namespace cox::net
