// SPDX-License-Identifier: Apache-2.0
#include "net/gzip_body.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>

#include "net/gzip.h"

namespace cox::net {
namespace {

// A source with these pieces, one for each pull.
class PieceSource final : public BodySource {
 public:
  explicit PieceSource(std::deque<std::string> pieces) : pieces_(std::move(pieces)) {}
  State Pull(size_t, std::vector<Bytes>* out) override {
    if (pieces_.empty()) return State::kEnd;
    out->emplace_back(std::move(pieces_.front()));
    pieces_.pop_front();
    return State::kMore;
  }

 private:
  std::deque<std::string> pieces_;
};

std::string Drain(BodySource& source) {
  std::string text;
  for (BodySource::State state = BodySource::State::kMore; state != BodySource::State::kEnd;) {
    std::vector<Bytes> out;
    state = source.Pull(64 * 1024, &out);
    for (const Bytes& piece : out) text += piece.view();
  }
  return text;
}

TEST(GzipBodyTest, ContainsAllPiecesOfTheSource) {
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 300'000; ++i) {
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  }
  const std::vector<std::deque<std::string>> cases = {
      {}, {""}, {"a"}, {"one ", "", "two"}, {std::string(1'000'000, 'x'), "end"}, {noise, noise}};
  for (const auto& pieces : cases) {
    std::string whole;
    for (const std::string& piece : pieces) whole += piece;
    const auto body = MakeGzipBody(std::make_unique<PieceSource>(pieces), 1);
    EXPECT_EQ(Gunzip(Drain(*body)), whole);
  }
}

}  // namespace
}  // namespace cox::net
