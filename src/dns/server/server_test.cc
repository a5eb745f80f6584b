// SPDX-License-Identifier: Apache-2.0
#include "dns/server/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <thread>

namespace cox::dns {
namespace {

// A headless Service with too many endpoints for a UDP response, and an ExternalName Service.
class Objects final : public Source {
 public:
  Objects() {
    auto big = std::make_shared<core::v1::Service>();
    big->metadata.namespace_ = "default";
    big->metadata.name = "big";
    big->spec.clusterIP = "None";
    big_ = big;
    auto out = std::make_shared<core::v1::Service>(*big);
    out->metadata.name = "out";
    out->spec.type = "ExternalName";
    out->spec.externalName = "example.com";
    out_ = out;
    auto slice = std::make_shared<discovery::v1::EndpointSlice>();
    slice->endpoints.resize(100);
    for (int i = 0; i < 100; ++i) slice->endpoints[i].addresses = {"10.0.0." + std::to_string(i)};
    slice_ = slice;
  }
  bool Complete() const override { return true; }
  bool HasNamespace(const std::string&) const override { return true; }
  ServicePtr Service(const std::string&, const std::string& name) const override {
    return name == "big" ? big_ : name == "out" ? out_ : nullptr;
  }
  std::vector<SlicePtr> Slices(const std::string&, const std::string&) const override {
    return {slice_};
  }
  std::vector<ServicePtr> ServicesAt(const std::string&) const override { return {}; }
  std::vector<SlicePtr> SlicesAt(const std::string&) const override { return {}; }

 private:
  ServicePtr big_;
  ServicePtr out_;
  SlicePtr slice_;
};

Query MakeQuery(const std::string& name, uint16_t type, uint16_t klass = kClassIn) {
  Query query;
  query.name = name;
  query.type = type;
  query.klass = klass;
  query.question = NormalQuestion(query);
  return query;
}

// As it is sent over TCP.
std::string Framed(const std::string& message) {
  return std::string(1, char(message.size() >> 8)) + char(message.size()) + message;
}

class Peer {
 public:
  explicit Peer(int kind) : fd_(socket(AF_INET, kind | SOCK_CLOEXEC, 0)) {}
  ~Peer() { close(fd_); }
  static sockaddr_in At(uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }
  void Connect(uint16_t port) {
    const sockaddr_in at = At(port);
    ASSERT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  }
  void Send(const std::string& bytes) {
    (void)!send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Empty if nothing is received.
  std::string Receive(int milliseconds = 5000) {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, milliseconds) <= 0) return "";
    std::string buffer(70'000, '\0');
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    buffer.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return buffer;
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// Answers every question with one address. Truncates "long.example" over UDP; does not answer names
// that begin with "silent", nor any name while `silent` is set. `distort` replaces the answers; its
// result over TCP includes the length.
class FakeUpstream {
 public:
  using Distort = std::function<std::string(std::string answer, bool tcp)>;

  explicit FakeUpstream(Distort distort = nullptr)
      : distort_(std::move(distort)), udp_(SOCK_DGRAM), tcp_(SOCK_STREAM) {
    sockaddr_in at = Peer::At(0);
    (void)!bind(tcp_.fd(), reinterpret_cast<sockaddr*>(&at), sizeof at);
    socklen_t size = sizeof at;
    getsockname(tcp_.fd(), reinterpret_cast<sockaddr*>(&at), &size);
    port = ntohs(at.sin_port);
    (void)!bind(udp_.fd(), reinterpret_cast<sockaddr*>(&at), sizeof at);
    listen(tcp_.fd(), 10);
    thread_ = std::thread([this] { Serve(); });
  }
  ~FakeUpstream() {
    stop_ = true;
    Peer knock(SOCK_DGRAM);
    knock.Connect(port);
    knock.Send("x");
    thread_.join();
  }
  uint16_t port = 0;
  std::atomic<int> asked = 0;
  std::atomic<bool> silent = false;
  std::atomic<char> last_byte = '\x04';

 private:
  std::string AnswerTo(const std::string& bytes, bool tcp) const {
    const auto query = ParseQuery(bytes);
    if (!query || silent || query->name.starts_with("silent")) return "";
    Answer answer;
    answer.answers.push_back({.name = query->name,
                              .type = kA,
                              .ttl = 60,
                              .data = std::string("\x01\x02\x03") + last_byte.load()});
    std::string out = EncodeAnswer(*query, answer, 512);
    if (!tcp && query->name == "long.example") out[2] = static_cast<char>(out[2] | 2);
    return out;
  }
  void Serve() {
    while (!stop_) {
      pollfd ready[2] = {{udp_.fd(), POLLIN, 0}, {tcp_.fd(), POLLIN, 0}};
      poll(ready, 2, -1);
      char buffer[4096];
      if (ready[0].revents != 0) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        const ssize_t got = recvfrom(udp_.fd(), buffer, sizeof buffer, 0,
                                     reinterpret_cast<sockaddr*>(&peer), &size);
        if (got < 12) continue;
        ++asked;
        std::string answer = AnswerTo({buffer, static_cast<size_t>(got)}, false);
        if (distort_) answer = distort_(std::move(answer), false);
        if (!answer.empty()) {
          sendto(udp_.fd(), answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&peer),
                 size);
        }
      }
      if (ready[1].revents != 0) {
        const int fd = accept(tcp_.fd(), nullptr, nullptr);
        const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
        const std::string answer = AnswerTo({buffer + 2, static_cast<size_t>(got - 2)}, true);
        const std::string framed = distort_ ? distort_(answer, true) : Framed(answer);
        (void)!send(fd, framed.data(), framed.size(), MSG_NOSIGNAL);
        close(fd);
      }
    }
  }
  const Distort distort_;
  Peer udp_;
  Peer tcp_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class ServerTest : public testing::Test {
 protected:
  void Start(std::vector<Upstream> upstreams = {}) {
    auto started = Server::Start(
        ctx_,
        {.port = 0,
         .forward = {.upstreams = std::move(upstreams), .timeout = std::chrono::milliseconds(200)}},
        zone_, metrics_);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    server_ = *std::move(started);
  }
  std::optional<Scanned> AskUdp(const Query& query, uint16_t id = 7) {
    Peer peer(SOCK_DGRAM);
    peer.Connect(server_->port());
    peer.Send(EncodeQuery(query, id));
    last_ = peer.Receive();
    return ScanAnswer(last_);
  }
  std::optional<Scanned> AskTcp(const Query& query) {
    Peer peer(SOCK_STREAM);
    peer.Connect(server_->port());
    const std::string bytes = EncodeQuery(query, 7);
    peer.Send(Framed(bytes));
    std::string all;
    for (;;) {
      all += peer.Receive();
      if (all.size() < 2) return std::nullopt;
      const size_t size = size_t{static_cast<uint8_t>(all[0])} << 8 | static_cast<uint8_t>(all[1]);
      if (all.size() >= size + 2) return ScanAnswer(all.substr(2));
    }
  }

  RealClock clock_;
  Context ctx_{clock_};
  MetricsRegistry registry_;
  Metrics metrics_{registry_};
  Objects objects_;
  Zone zone_{{}, objects_};
  std::unique_ptr<Server> server_;
  std::string last_;
};

TEST_F(ServerTest, LargeAnswersAreTruncatedOverUdpAndCompleteOverTcp) {
  Start();
  const Query query = MakeQuery("big.default.svc.cluster.local", kA);
  const auto plain = AskUdp(query);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->truncated);
  EXPECT_LE(last_.size(), 512);
  Query edns = query;
  edns.edns = true;
  edns.udp_size = 65'535;
  ASSERT_TRUE(AskUdp(edns));
  EXPECT_LE(last_.size(), kMaxUdpAnswer);
  EXPECT_GT(last_.size(), 512);
  const auto whole = AskTcp(query);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->truncated);
  EXPECT_EQ(whole->addresses.size(), 100);
}

TEST_F(ServerTest, ShufflesAddresses) {
  Start();
  const Query query = MakeQuery("big.default.svc.cluster.local", kA);
  std::set<std::string> firsts;
  for (int i = 0; i < 20; ++i) {
    const auto answer = AskUdp(query);
    ASSERT_TRUE(answer);
    ASSERT_GT(answer->addresses.size(), 0);
    firsts.insert(answer->addresses[0].second);
  }
  EXPECT_GT(firsts.size(), 1);
}

TEST_F(ServerTest, RefusesUnsupportedQueries) {
  Start();
  const struct {
    Query query;
    Rcode expected;
  } kCases[] = {
      {MakeQuery("big.default.svc.cluster.local", kAny), Rcode::kRefused},
      {MakeQuery("cluster.local", 252), Rcode::kRefused},
      {MakeQuery("version.bind", kTxt, 3), Rcode::kRefused},
      {MakeQuery("example.com", kA), Rcode::kRefused},  // no upstream
      {MakeQuery("no.default.svc.cluster.local", kA), Rcode::kNxDomain},
  };
  for (const auto& test : kCases) {
    const auto answer = AskUdp(test.query);
    ASSERT_TRUE(answer) << test.query.name;
    EXPECT_EQ(answer->rcode, test.expected) << test.query.name;
    EXPECT_LE(last_.size(), 200);
  }
}

TEST_F(ServerTest, CachesAnswersOfUpstreams) {
  FakeUpstream upstream;
  Start({{"127.0.0.1", upstream.port}});
  const auto first = AskUdp(MakeQuery("www.example", kA), 1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, 1);
  ASSERT_EQ(first->addresses.size(), 1);
  const int asked = upstream.asked;
  const auto second = AskUdp(MakeQuery("www.example", kA), 2);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, 2);
  EXPECT_EQ(second->addresses, first->addresses);
  EXPECT_EQ(upstream.asked, asked);
  EXPECT_NE(registry_.Render().find("coredns_cache_hits_total 1"), std::string::npos);
}

TEST_F(ServerTest, SkipsSilentOrUnreachableUpstreams) {
  FakeUpstream upstream;
  uint16_t nobody = 0;
  {
    const FakeUpstream gone;
    nobody = gone.port;
  }
  Start({{"127.0.0.1", nobody}, {"127.0.0.1", upstream.port}});
  const auto answer = AskUdp(MakeQuery("www.example", kA));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rcode, Rcode::kOk);
  const auto silent = AskUdp(MakeQuery("silent.example", kA));
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->rcode, Rcode::kServFail);
}

TEST_F(ServerTest, AnswersOfHostileUpstreamsAreNotForwarded) {
  const auto truncated = [](std::string answer) {
    answer[2] = static_cast<char>(answer[2] | 2);
    return answer;
  };
  const std::pair<const char*, FakeUpstream::Distort> cases[] = {
      {"wrong id",
       [](std::string answer, bool) {
         answer[0] = static_cast<char>(~answer[0]);
         return answer;
       }},
      {"other question",
       [](std::string answer, bool) {
         answer[13] = static_cast<char>(answer[13] ^ 1);
         return answer;
       }},
      {"a query",
       [](std::string answer, bool) {
         answer[2] = static_cast<char>(answer[2] & 0x7f);
         return answer;
       }},
      {"more records than bytes",
       [](std::string answer, bool) {
         answer[6] = answer[7] = '\xff';
         return answer;
       }},
      {"garbage", [](const std::string&, bool) { return std::string(4096, '\xff'); }},
      {"too short", [](const std::string& answer, bool) { return answer.substr(0, 11); }},
      {"less than announced over TCP",
       [&](const std::string& answer, bool tcp) {
         return tcp ? "\xff\xff" + answer : truncated(answer);
       }},
      {"nothing over TCP",
       [&](const std::string& answer, bool tcp) { return tcp ? "" : truncated(answer); }},
  };
  for (const auto& [name, distort] : cases) {
    const FakeUpstream upstream(distort);
    Start({{"127.0.0.1", upstream.port}});
    const auto answer = AskTcp(MakeQuery("www.example", kA));
    ASSERT_TRUE(answer) << name;
    EXPECT_EQ(answer->rcode, Rcode::kServFail) << name;
    EXPECT_EQ(answer->addresses.size(), 0U) << name;
  }
}

TEST_F(ServerTest, QueriesUpstreamThatAnsweredLastFirst) {
  FakeUpstream broken;
  FakeUpstream well;
  broken.silent = true;
  well.last_byte = '\x05';
  Start({{"127.0.0.1", broken.port}, {"127.0.0.1", well.port}});
  ASSERT_TRUE(AskUdp(MakeQuery("one.example", kA)));
  // If the first upstream were queried again, its answer would be returned.
  broken.silent = false;
  const auto answer = AskUdp(MakeQuery("two.example", kA));
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->addresses.size(), 1);
  EXPECT_EQ(answer->addresses[0].second, "\x01\x02\x03\x05");
}

TEST_F(ServerTest, TruncatedAnswersAreFetchedOverTcpForTcpClients) {
  FakeUpstream upstream;
  Start({{"127.0.0.1", upstream.port}});
  const auto udp = AskUdp(MakeQuery("long.example", kA));
  ASSERT_TRUE(udp);
  EXPECT_TRUE(udp->truncated);
  const auto tcp = AskTcp(MakeQuery("long.example", kA));
  ASSERT_TRUE(tcp);
  EXPECT_FALSE(tcp->truncated);
}

TEST_F(ServerTest, FollowsCnameToAddresses) {
  FakeUpstream upstream;
  Start({{"127.0.0.1", upstream.port}});
  const auto answer = AskUdp(MakeQuery("out.default.svc.cluster.local", kA));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->ttl_offsets.size(), 2);
  ASSERT_EQ(answer->addresses.size(), 1);
  EXPECT_EQ(answer->addresses[0].second, "\x01\x02\x03\x04");
}

TEST_F(ServerTest, DetectsForwardingLoop) {
  uint16_t port = 0;
  {
    const FakeUpstream any;
    port = any.port;
  }
  auto started = Server::Start(
      ctx_, {.port = port, .forward = {.upstreams = {{"127.0.0.1", port}}}}, zone_, metrics_);
  ASSERT_TRUE(started.ok()) << started.status().ToString();
  server_ = *std::move(started);
  const auto answer = AskUdp(MakeQuery("www.example", kA));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rcode, Rcode::kServFail);
}

TEST_F(ServerTest, IgnoresMalformedMessages) {
  Start();
  Peer peer(SOCK_DGRAM);
  peer.Connect(server_->port());
  peer.Send("x");
  peer.Send(std::string(4096, '\xff'));
  std::string answer_itself = EncodeQuery(MakeQuery("cluster.local", kSoa), 7);
  answer_itself[2] = '\x80';
  peer.Send(answer_itself);
  // The first response is to this query: the others were dropped.
  peer.Send(EncodeQuery(MakeQuery("cluster.local", kSoa), 9));
  const auto answer = ScanAnswer(peer.Receive());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->id, 9);
  // A connection with invalid data is closed.
  Peer stream(SOCK_STREAM);
  stream.Connect(server_->port());
  stream.Send(std::string(10, '\xff'));
  EXPECT_EQ(stream.Receive(), "");
}

TEST(ForwarderTest, ParsesUpstreamsWithOptionalPort) {
  const struct {
    const char* text;
    std::optional<Upstream> want;
  } kCases[] = {
      {"192.0.2.53", Upstream{"192.0.2.53", 53}},
      {"192.0.2.53:5353", Upstream{"192.0.2.53", 5353}},
      {"2001:db8::53", Upstream{"2001:db8::53", 53}},
      {"[2001:db8::53]:5353", Upstream{"2001:db8::53", 5353}},
      {"[2001:db8::53]", std::nullopt},
      {"192.0.2.53:", std::nullopt},
      {"192.0.2.53:0", std::nullopt},
      {"192.0.2.53:70000", std::nullopt},
      {"192.0.2.53:53x", std::nullopt},
      {"dns.example", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& test : kCases) EXPECT_EQ(ParseUpstream(test.text), test.want) << test.text;
}

}  // namespace
}  // namespace cox::dns
