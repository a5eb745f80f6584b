// SPDX-License-Identifier: Apache-2.0
#include "testkit/faulty_transport.h"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "base/await_stop.h"
#include "base/testing/test_clock.h"

namespace cox::testkit {
namespace {

using std::chrono::seconds;

constexpr char kAdded[] = "{\"type\":\"ADDED\",\"object\":{}}\n";
constexpr char kBookmark[] = "{\"type\":\"BOOKMARK\",\"object\":{}}\n";
constexpr char kDeleted[] = "{\"type\":\"DELETED\",\"object\":{}}\n";

// A watch with three events; afterwards it is silent or ends.
class ThreeEvents final : public net::ClientStream {
 public:
  explicit ThreeEvents(bool ends) : ends_(ends) {}
  int status() const override { return 200; }
  const net::Headers& headers() const override { return headers_; }
  Result<Bytes> Read(Context& ctx) override {
    if (!pieces_.empty()) {
      Bytes piece(pieces_.front());
      pieces_.pop_front();
      return piece;
    }
    if (ends_) return Bytes();
    return AwaitStop(ctx);
  }
  Result<std::optional<Bytes>> TryRead(const std::function<void()>&) override {
    if (pieces_.empty() && !ends_) return std::optional<Bytes>();
    if (pieces_.empty()) return std::optional(Bytes());
    std::optional piece(Bytes(pieces_.front()));
    pieces_.pop_front();
    return piece;
  }

 private:
  const bool ends_;
  const net::Headers headers_{{"content-type", "application/json"}};
  // Chunks do not match event boundaries.
  std::deque<std::string> pieces_{std::string(kAdded) + kBookmark + "{\"type\":",
                                  std::string(kDeleted).substr(8)};
};

class CountingTransport final : public Transport {
 public:
  Result<net::Response> Do(Context&, net::Request) override {
    ++calls;
    net::Response response;
    response.body.push_back(Bytes::Static("0123456789"));
    return response;
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context&, net::Request) override {
    ++calls;
    return std::unique_ptr<net::ClientStream>(std::make_unique<ThreeEvents>(ends));
  }
  int calls = 0;
  bool ends = true;
};

class FaultyTransportTest : public ::testing::Test {
 protected:
  Result<net::Response> Get(const std::string& target = "/api/v1/namespaces/default/pods/web") {
    return faults_->Do(ctx_, {.method = "GET", .target = target, .peer = nullptr});
  }
  std::unique_ptr<net::ClientStream> Watch() {
    auto stream = faults_->Start(
        ctx_, {.method = "GET", .target = "/api/v1/pods?watch=true", .peer = nullptr});
    EXPECT_TRUE(stream.ok());
    return stream.ok() ? *std::move(stream) : nullptr;
  }
  // Returns all data, followed by "<end>" or the error.
  std::string ReadAll(net::ClientStream& stream) {
    std::string text;
    for (;;) {
      Result<Bytes> piece = stream.Read(ctx_);
      if (!piece.ok()) return text + "<" + piece.status().message() + ">";
      if (piece->empty()) return text + "<end>";
      text += piece->view();
    }
  }

  TestClock clock_;
  Context ctx_{clock_};
  std::shared_ptr<CountingTransport> under_ = std::make_shared<CountingTransport>();
  std::shared_ptr<FaultyTransport> faults_ = FaultyTransport::Over(under_);
};

TEST_F(FaultyTransportTest, WithoutFaultsNothingChanges) {
  EXPECT_EQ(Get()->body[0].view(), "0123456789");
  EXPECT_EQ(ReadAll(*Watch()), std::string(kAdded) + kBookmark + kDeleted + "<end>");
}

TEST_F(FaultyTransportTest, RequestsAreMatchedAndCounted) {
  const struct {
    RequestMatch match;
    bool matches;
  } cases[] = {
      {{}, true},
      {{.verb = "get"}, true},
      {{.verb = "list"}, false},
      {{.resource = "pods"}, true},
      {{.verb = "get", .resource = "nodes"}, false},
      {{.ns = "default", .name = "web"}, true},
      {{.ns = "other"}, false},
      {{.name = "other"}, false},
  };
  const int times = static_cast<int>(std::size(cases));
  for (const auto& c : cases) {
    faults_->Clear();
    faults_->Add(c.match, {.refuse = true});
    EXPECT_EQ(Get().ok(), !c.matches) << c.match.verb << " " << c.match.resource;
  }
  for (const auto& c : cases) {
    EXPECT_EQ(faults_->requests(c.match), c.matches ? times : 0);
  }
  EXPECT_TRUE(faults_->AwaitRequests(ctx_, {.verb = "get"}, 1).ok());
}

TEST_F(FaultyTransportTest, LastAddedFaultAppliesUntilUsedUp) {
  faults_->Add({}, {.answer = Status(Reason::kInternalError, "first")});
  const uint64_t second =
      faults_->Add({}, {.answer = Status(Reason::kForbidden, "second"), .skip = 1, .times = 2});
  EXPECT_EQ(Get()->status, 500);
  EXPECT_EQ(Get()->status, 403);
  EXPECT_EQ(Get()->status, 403);
  EXPECT_EQ(Get()->status, 500);
  faults_->Remove(second);
  faults_->Clear();
  EXPECT_EQ(Get()->status, 200);
}

TEST_F(FaultyTransportTest, FaultsBeforeTheServer) {
  faults_->Add({}, {.refuse = true, .times = 1});
  EXPECT_TRUE(NotSent(Get().status()));
  faults_->Add({}, {.answer = Status(Reason::kTooManyRequests, "slow down",
                                     StatusDetails{.retry_after_seconds = 7}),
                    .times = 1});
  Result<net::Response> answer = Get();
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->headers.Get("retry-after"), "7");
  EXPECT_NE(answer->body[0].view().find("\"reason\":\"TooManyRequests\""), std::string::npos);
  EXPECT_EQ(under_->calls, 0);

  faults_->Add({}, {.silent = true, .times = 1});
  Context limited = ctx_.WithTimeout(seconds(3));
  std::thread time([this] {
    clock_.WaitForTimers(1);
    clock_.Advance(seconds(3));
  });
  const Status silent = faults_->Do(limited, {.method = "GET", .target = "/"}).status();
  time.join();
  EXPECT_TRUE(silent.Is(Reason::kTimeout)) << silent.ToString();
  EXPECT_EQ(under_->calls, 0);
}

TEST_F(FaultyTransportTest, FaultsOfTheResponse) {
  faults_->Add({}, {.lose_response = true, .times = 1});
  const Status lost = Get().status();
  EXPECT_TRUE(lost.Is(Reason::kServiceUnavailable));
  EXPECT_FALSE(NotSent(lost));
  EXPECT_EQ(under_->calls, 1);
  faults_->Add({}, {.cut_after_bytes = 9, .times = 1});
  EXPECT_FALSE(Get().ok());
  faults_->Add({}, {.cut_after_bytes = 10, .times = 1});
  EXPECT_TRUE(Get().ok());
}

TEST_F(FaultyTransportTest, RequestsCanBeRedirectedToAnotherServer) {
  const auto other = std::make_shared<CountingTransport>();
  faults_->Add({.verb = "watch"}, {.other = other});
  (void)Get();
  (void)Watch();
  EXPECT_EQ(under_->calls, 1);
  EXPECT_EQ(other->calls, 1);
}

TEST_F(FaultyTransportTest, FaultsOfStreams) {
  const std::string reset = "<connection reset by peer>";
  const std::string half = std::string(kBookmark).substr(0, (sizeof(kBookmark) - 1) / 2);
  const struct {
    Fault fault;
    std::string read;
  } cases[] = {
      {{.cut_after_bytes = 0}, reset},
      {{.cut_after_bytes = 5}, std::string(kAdded).substr(0, 5) + reset},
      {{.cut_after_events = 1}, kAdded + half + reset},
      {{.end_after_events = 0}, "<end>"},
      {{.end_after_events = 2}, std::string(kAdded) + kBookmark + "<end>"},
      {{.drop_bookmarks = true}, std::string(kAdded) + kDeleted + "<end>"},
      {{.end_after_events = 2, .drop_bookmarks = true}, std::string(kAdded) + kDeleted + "<end>"},
      {{.repeat_events = true},
       std::string(kAdded) + kAdded + kBookmark + kBookmark + kDeleted + kDeleted + "<end>"},
  };
  for (const auto& c : cases) {
    faults_->Clear();
    faults_->Add({}, c.fault);
    const auto stream = Watch();
    EXPECT_EQ(faults_->streams(), 1U);
    EXPECT_EQ(ReadAll(*stream), c.read);
  }
  EXPECT_EQ(faults_->streams(), 0U);
}

TEST_F(FaultyTransportTest, NonBlockingReadsHaveTheSameFaults) {
  int ready = 0;
  const auto on_ready = [&ready] { ++ready; };
  under_->ends = false;
  auto stream = Watch();
  faults_->SetSilent(true);
  EXPECT_FALSE(stream->TryRead(on_ready)->has_value());
  faults_->SetSilent(false);
  EXPECT_EQ(ready, 1);
  EXPECT_EQ((**stream->TryRead(on_ready)).view(), std::string(kAdded) + kBookmark + "{\"type\":");
  EXPECT_TRUE(stream->TryRead(on_ready)->has_value());
  EXPECT_FALSE(stream->TryRead(on_ready)->has_value());
  faults_->BreakStreams();
  EXPECT_EQ(ready, 2);
  EXPECT_TRUE(stream->TryRead(on_ready).status().Is(Reason::kServiceUnavailable));

  faults_->Add({.verb = "watch"}, {.silent_after_events = 2, .drop_bookmarks = true});
  stream = Watch();
  EXPECT_EQ((**stream->TryRead(on_ready)).view(), kAdded);
  EXPECT_EQ((**stream->TryRead(on_ready)).view(), kDeleted);
  EXPECT_FALSE(stream->TryRead(on_ready)->has_value());
}

TEST_F(FaultyTransportTest, BreakStreamsEndsPendingReads) {
  under_->ends = false;
  faults_->Add({}, {.silent_after_events = 1});
  const auto silent = Watch();
  faults_->Clear();
  const auto healthy = Watch();
  std::string of_silent, of_healthy;
  std::thread reader([&] { of_silent = ReadAll(*silent); });
  std::thread other([&] { of_healthy = ReadAll(*healthy); });
  // Streams break independent of whether a read is in progress.
  faults_->BreakStreams();
  reader.join();
  other.join();
  EXPECT_TRUE(of_silent.ends_with("<connection reset by peer>")) << of_silent;
  EXPECT_TRUE(of_healthy.ends_with("<connection reset by peer>")) << of_healthy;
  // A new stream uses a new connection.
  under_->ends = true;
  EXPECT_TRUE(ReadAll(*Watch()).ends_with("<end>"));
}

TEST_F(FaultyTransportTest, SilentPartitionHoldsDataBackAndHeals) {
  const auto stream = Watch();
  faults_->SetSilent(true);
  Context given_up = ctx_.Child();
  given_up.Stop(Status::Timeout("enough"));
  EXPECT_EQ(stream->Read(given_up).status().message(), "enough");
  std::string read;
  std::thread reader([&] { read = ReadAll(*stream); });
  std::thread caller([&] { EXPECT_TRUE(Get().ok()); });
  faults_->SetSilent(false);
  reader.join();
  caller.join();
  EXPECT_EQ(read, std::string(kAdded) + kBookmark + kDeleted + "<end>");
}

}  // namespace
}  // namespace cox::testkit
