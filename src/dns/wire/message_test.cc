// SPDX-License-Identifier: Apache-2.0
#include "dns/wire/message.h"

#include <gtest/gtest.h>

namespace cox::dns {
namespace {

using std::string_literals::operator""s;

Query MakeQuery(const std::string& name, uint16_t type, bool edns = false) {
  Query query;
  query.id = 0x1234;
  query.name = name;
  query.type = type;
  query.klass = kClassIn;
  query.question = NormalQuestion(query);
  query.edns = edns;
  query.udp_size = 1232;
  return query;
}

TEST(MessageTest, QueryRoundTrip) {
  const auto read =
      ParseQuery(EncodeQuery(MakeQuery("web.default.svc.cluster.local", kA, true), 7));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->refused, Rcode::kOk);
  EXPECT_EQ(read->id, 7);
  EXPECT_EQ(read->name, "web.default.svc.cluster.local");
  EXPECT_EQ(read->type, kA);
  EXPECT_TRUE(read->edns);
  EXPECT_TRUE(read->recursion_desired);
}

TEST(MessageTest, NamesAreLowerCaseAndQuestionKeepsLetterCase) {
  std::string bytes = EncodeQuery(MakeQuery("web", kA), 7);
  bytes[13] = 'W';
  const auto read = ParseQuery(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "web");
  EXPECT_EQ(read->question.substr(0, 4), "\x03Web");
}

TEST(MessageTest, DotsInLabelsAreEscaped) {
  std::string bytes = EncodeQuery(MakeQuery("axb.c", kA), 7);
  bytes[14] = '.';
  const auto read = ParseQuery(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "a\\.b.c");
  EXPECT_EQ(EncodeName(read->name), "\x03"s + "a.b\x01" + "c\0"s);
}

TEST(MessageTest, RejectsHostileQueries) {
  const std::string good = EncodeQuery(MakeQuery("a.b", kA, true), 7);
  const auto with = [&](size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    return bytes;
  };
  const struct {
    const char* name;
    std::string bytes;
    std::optional<Rcode> expected;  // none: no response
  } kCases[] = {
      {"nothing", "", std::nullopt},
      {"half a head", good.substr(0, 11), std::nullopt},
      {"an answer", with(2, '\x80'), std::nullopt},
      {"another opcode", with(2, '\x28'), Rcode::kNotImp},
      {"no question", with(5, 0), Rcode::kFormErr},
      {"two questions", with(5, 2), Rcode::kFormErr},
      {"an answer in the question", with(7, 1), Rcode::kFormErr},
      {"records that are not there", with(11, 9), Rcode::kFormErr},
      {"a pointer in the name", with(12, '\xc0'), Rcode::kFormErr},
      {"a label of another kind", with(12, '\x40'), Rcode::kFormErr},
      {"a label past the end", with(12, 60), Rcode::kFormErr},
      {"bytes behind the end", good + "x", Rcode::kFormErr},
      {"another version of EDNS", with(good.size() - 5, 1), Rcode::kBadVers},
      {"two OPT records", with(11, 2) + good.substr(good.size() - 11), Rcode::kFormErr},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.name);
    const auto read = ParseQuery(test.bytes);
    ASSERT_EQ(read.has_value(), test.expected.has_value());
    if (read) {
      EXPECT_EQ(read->refused, *test.expected);
    }
  }
  for (size_t size = 0; size < good.size(); ++size) {
    const auto read = ParseQuery(good.substr(0, size));
    if (read) {
      EXPECT_NE(read->refused, Rcode::kOk) << size;
    }
  }
}

TEST(MessageTest, RejectsLongNames) {
  const std::string label(63, 'a');
  const std::string fits = label + "." + label + "." + label + "." + std::string(61, 'b');
  EXPECT_EQ(EncodeName(fits).size(), 255);
  EXPECT_EQ(EncodeName(fits + "b"), "");
  EXPECT_EQ(EncodeName(label + "a"), "");
  EXPECT_EQ(EncodeName("a..b"), "");
  EXPECT_EQ(EncodeName(""), "\0"s);
  // One byte too long in wire format.
  std::string bytes = EncodeQuery(MakeQuery("x", kA), 7).substr(0, 12);
  for (int i = 0; i < 4; ++i) bytes += '\x3f' + label;
  bytes += "\0\0\x01\0\x01"s;
  EXPECT_EQ(ParseQuery(bytes)->refused, Rcode::kFormErr);
}

TEST(MessageTest, AnswersAreCompressedAndRespectLimit) {
  const Query query = MakeQuery("web.default.svc.cluster.local", kA);
  Answer answer{.authoritative = true};
  for (int i = 0; i < 100; ++i) {
    answer.answers.push_back(
        {.name = query.name, .type = kA, .ttl = 30, .data = std::string("\x0a\0\0", 3) + char(i)});
  }
  const std::string cut = EncodeAnswer(query, answer, 512);
  EXPECT_LE(cut.size(), 512);
  const auto scanned = ScanAnswer(cut);
  ASSERT_TRUE(scanned);
  EXPECT_TRUE(scanned->truncated);
  EXPECT_EQ(scanned->addresses.size(), (512 - 12 - query.question.size()) / 16);
  // Some servers truncate without updating the counts: between records, or within one.
  for (const size_t size : {cut.size() - 16, cut.size() - 15, cut.size() - 3}) {
    const auto shorter = ScanAnswer(cut.substr(0, size));
    ASSERT_TRUE(shorter) << size;
    EXPECT_EQ(shorter->addresses.size(), scanned->addresses.size() - 1) << size;
  }
  const auto whole = ScanAnswer(EncodeAnswer(query, answer, 65'535));
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->truncated);
  EXPECT_EQ(whole->addresses.size(), 100);
  EXPECT_EQ(whole->question, NormalQuestion(query));
  EXPECT_EQ(whole->least_ttl, 30);
}

TEST(MessageTest, OmittedAdditionalRecordsDoNotTruncate) {
  const Query query = MakeQuery("a", kSrv, true);
  Answer answer;
  answer.answers.push_back({.name = "a", .type = kTxt, .ttl = 1, .data = "\x01x"});
  for (int i = 0; i < 100; ++i) {
    answer.additional.push_back(
        {.name = "host" + std::to_string(i) + ".b", .type = kA, .ttl = 1, .data = "abcd"});
  }
  const auto scanned = ScanAnswer(EncodeAnswer(query, answer, 512));
  ASSERT_TRUE(scanned);
  EXPECT_FALSE(scanned->truncated);
  EXPECT_GT(scanned->ttl_offsets.size(), 5);
}

TEST(MessageTest, HostileAnswersStayInBounds) {
  const Query query = MakeQuery("a", kA);
  Answer answer;
  answer.answers.push_back({.name = "a", .type = kA, .ttl = 9, .data = "abcd"});
  const std::string good = EncodeAnswer(query, answer, 512);
  ASSERT_TRUE(ScanAnswer(good));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ScanAnswer(good.substr(0, size))) << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int value : {0, 0x3f, 0x40, 0xc0, 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(value);
      const auto scanned = ScanAnswer(bytes);  // offsets must stay in bounds for any input
      if (scanned) {
        for (const size_t offset : scanned->ttl_offsets) EXPECT_LE(offset + 4, bytes.size());
      }
    }
  }
}

}  // namespace
}  // namespace cox::dns
